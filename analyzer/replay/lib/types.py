import _support

FunctionType = _support.builtin_type("function")
LambdaType = FunctionType
GeneratorType = _support.builtin_type("generator")
MethodType = _support.builtin_type("method")
ModuleType = _support.builtin_type("module")
BuiltinFunctionType = _support.builtin_type("native")
NoneType = _support.builtin_type("none")


class SimpleNamespace:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        return "namespace(%s)" % ", ".join("%s=%r" % pair for pair in self.__dict__.items())

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


def MappingProxyType(mapping):
    return mapping
