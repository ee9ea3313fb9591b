class ABC:
    pass


class ABCMeta(type):
    pass


def abstractmethod(func):
    return func


def abstractproperty(func):
    return property(func)


def abstractclassmethod(func):
    return classmethod(func)


def abstractstaticmethod(func):
    return staticmethod(func)
