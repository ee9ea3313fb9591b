class ABCMeta(type):
    def __new__(mcls, name, bases, namespace, /, **kwargs):
        cls = type.__new__(mcls, name, bases, namespace, **kwargs)
        missing = {key for key, value in namespace.items() if getattr(value, "__isabstractmethod__", False)}
        for base in cls.__bases__:
            for key in getattr(base, "__abstractmethods__", ()):
                if getattr(getattr(cls, key, None), "__isabstractmethod__", False):
                    missing.add(key)
        cls.__abstractmethods__ = frozenset(missing)
        return cls

    def register(cls, subclass):
        cls.__dict__.setdefault("_registered", []).append(subclass)
        return subclass

    def __instancecheck__(cls, instance):
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass):
        if cls in subclass.__mro__:
            return True
        hook = cls.__dict__.get("__subclasshook__")
        if hook is not None:
            answer = hook.__get__(None, cls)(subclass)
            if answer is not NotImplemented:
                return answer
        return any(issubclass(subclass, other) for other in cls.__dict__.get("_registered", ()))


class ABC(metaclass=ABCMeta):
    pass


def abstractmethod(func):
    func.__isabstractmethod__ = True
    return func


class abstractproperty(property):
    __isabstractmethod__ = True


class abstractclassmethod(classmethod):
    __isabstractmethod__ = True


class abstractstaticmethod(staticmethod):
    __isabstractmethod__ = True
