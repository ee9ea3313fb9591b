import _support


def isclass(obj):
    return isinstance(obj, type)


def isfunction(obj):
    return isinstance(obj, _support.builtin_type("function"))


def ismethod(obj):
    return isinstance(obj, _support.builtin_type("method"))


def isgeneratorfunction(obj):
    return _support.is_generator_function(obj)


class Signature:
    def __init__(self, names):
        self.parameters = {name: None for name in names}


def signature(obj):
    return Signature(_support.parameters(obj))
