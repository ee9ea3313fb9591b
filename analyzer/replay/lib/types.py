import _support

FunctionType = _support.builtin_type("function")
LambdaType = FunctionType
GeneratorType = _support.builtin_type("generator")
CoroutineType = GeneratorType
MethodType = _support.builtin_type("method")
ModuleType = _support.builtin_type("module")
BuiltinFunctionType = _support.builtin_type("native")
BuiltinMethodType = BuiltinFunctionType
FrameType = _support.builtin_type("frame")
EllipsisType = _support.builtin_type("ellipsis")
NotImplementedType = _support.builtin_type("not_implemented")
NoneType = _support.builtin_type("none")


class TracebackType:
    pass


class SimpleNamespace:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        return "namespace(%s)" % ", ".join("%s=%r" % pair for pair in self.__dict__.items())

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


class MappingProxyType:
    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def __eq__(self, other):
        return self._mapping == (other._mapping if isinstance(other, MappingProxyType) else other)

    def __repr__(self):
        return "mappingproxy(%r)" % self._mapping

    def get(self, key, default=None):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()

    def copy(self):
        return self._mapping.copy()


class DynamicClassAttribute(property):
    pass


def coroutine(func):
    return func


def new_class(name, bases=(), kwds=None, exec_body=None):
    ns = {}
    if exec_body is not None:
        exec_body(ns)
    return type(name, tuple(bases), ns)


def _shown(kind):
    if isinstance(kind, type):
        name = kind.__qualname__
        return name if kind.__module__ in ("builtins", None) else "%s.%s" % (kind.__module__, name)
    if kind is Ellipsis:
        return "..."
    if isinstance(kind, (list, tuple)):
        return "[%s]" % ", ".join([_shown(one) for one in kind])
    return repr(kind)


class GenericAlias:
    def __init__(self, origin, args):
        self.__origin__ = origin
        self.__args__ = args if isinstance(args, tuple) else (args,)

    def __call__(self, *args, **kwargs):
        return self.__origin__(*args, **kwargs)

    def __mro_entries__(self, bases):
        return (self.__origin__,)

    def __getitem__(self, args):
        return GenericAlias(self.__origin__, args)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return getattr(self.__origin__, name)

    def __eq__(self, other):
        return isinstance(other, GenericAlias) and (self.__origin__, self.__args__) == (
            other.__origin__, other.__args__)

    def __hash__(self):
        return hash(self.__args__)

    def __or__(self, other):
        return _union(self, other)

    def __ror__(self, other):
        return _union(other, self)

    def __repr__(self):
        return "%s[%s]" % (_shown(self.__origin__), ", ".join([_shown(one) for one in self.__args__]))


class UnionType:
    def __init__(self, args):
        self.__args__ = args

    def __instancecheck__(self, instance):
        return any([isinstance(instance, kind) for kind in self.__args__])

    def __subclasscheck__(self, cls):
        return any([issubclass(cls, kind) for kind in self.__args__])

    def __or__(self, other):
        return _union(self, other)

    def __ror__(self, other):
        return _union(other, self)

    def __eq__(self, other):
        return isinstance(other, UnionType) and set(self.__args__) == set(other.__args__)

    def __hash__(self):
        return hash(frozenset(self.__args__))

    def __repr__(self):
        return " | ".join(["None" if kind is NoneType else _shown(kind) for kind in self.__args__])


def _union(*kinds):
    args = []
    for kind in kinds:
        for one in kind.__args__ if isinstance(kind, UnionType) else (NoneType if kind is None else kind,):
            if one not in args:
                args.append(one)
    return UnionType(tuple(args)) if len(args) > 1 else args[0]
