import _support
import types as _types
from abc import ABCMeta as _ABCMeta
from collections import namedtuple as _namedtuple


def _shown(kind):
    return "None" if kind is _types.NoneType else _types._shown(kind)


class _Form:
    def __init__(self, name, origin=None):
        self._name = name
        if origin is not None:
            self.__origin__ = origin

    def __getitem__(self, parameters):
        return _Alias(self._name, getattr(self, "__origin__", self), parameters)

    def __call__(self, *args, **kwargs):
        return self.__origin__(*args, **kwargs) if hasattr(self, "__origin__") else self

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __mro_entries__(self, bases):
        return (self.__origin__,) if hasattr(self, "__origin__") else ()

    def __repr__(self):
        return "typing." + self._name


class _Alias(_Form):
    def __init__(self, name, origin, parameters):
        self._name = name
        self.__origin__ = origin
        args = parameters if isinstance(parameters, tuple) else (parameters,)
        self.__args__ = tuple([_types.NoneType if one is None and name != "Literal" else one for one in args])

    def __getitem__(self, parameters):
        return _Alias(self._name, self.__origin__, parameters)

    def __mro_entries__(self, bases):
        return (self.__origin__,) if isinstance(self.__origin__, type) else ()

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") or not isinstance(self.__origin__, type):
            raise AttributeError(name)
        return getattr(self.__origin__, name)

    def __instancecheck__(self, instance):
        if self._name in ("Union", "Optional"):
            return any([isinstance(instance, kind) for kind in self.__args__])
        return isinstance(instance, self.__origin__)

    def __subclasscheck__(self, cls):
        if self._name in ("Union", "Optional"):
            return any([issubclass(cls, kind) for kind in self.__args__])
        return issubclass(cls, self.__origin__)

    def __eq__(self, other):
        return isinstance(other, _Alias) and self._name == other._name and self.__args__ == other.__args__

    def __hash__(self):
        return hash(self._name)

    def __repr__(self):
        args = self.__args__
        if self._name == "Callable" and len(args) == 2:
            return "typing.Callable[%s, %s]" % (_shown(args[0]), _shown(args[1]))
        if self._name == "Literal":
            return "typing.Literal[%s]" % ", ".join([repr(one) for one in args])
        if self._name == "Optional":
            args = args[:1]
        name = self._name if self._name.startswith("__main__") else "typing." + self._name
        return "%s[%s]" % (name, ", ".join([_shown(one) for one in args]))


class _UnionForm(_Form):
    def __getitem__(self, parameters):
        kinds = parameters if isinstance(parameters, tuple) else (parameters,)
        args = []
        for kind in kinds:
            for one in kind.__args__ if isinstance(kind, _Alias) and kind._name in ("Union", "Optional") else (kind,):
                one = _types.NoneType if one is None else one
                if one not in args:
                    args.append(one)
        if self._name == "Optional" and _types.NoneType not in args:
            args.append(_types.NoneType)
        if len(args) == 1:
            return args[0]
        rest = [one for one in args if one is not _types.NoneType]
        if len(rest) == 1 and len(args) == 2:
            made = _Alias("Optional", Union, tuple(rest))
            made.__args__ = tuple(args)
            return made
        return _Alias("Union", Union, tuple(args))



Union = _UnionForm("Union")
Optional = _UnionForm("Optional")


class _NamedTupleBase:
    def __mro_entries__(self, bases):
        return (_NamedTupleMarker,)

    def __call__(self, typename, fields=(), **kwargs):
        fields = list(fields) + list(kwargs.items())
        made = _namedtuple(typename, [name for name, _ in fields])
        made.__annotations__ = dict(fields)
        return made


class _MarkerMeta(type):
    def __new__(cls, typename, bases, ns):
        if typename == "_NamedTupleMarker":
            return type.__new__(cls, typename, bases, ns)
        names = list(ns.get("__annotations__", {}))
        made = _namedtuple(typename, names, defaults=[ns[n] for n in names if n in ns])
        for key, value in ns.items():
            if key not in names:
                setattr(made, key, value)
        return made


class _NamedTupleMarker(metaclass=_MarkerMeta):
    pass


NamedTuple = _NamedTupleBase()
TYPE_CHECKING = False
Any = _Form("Any")
Dict = _Form("Dict", dict)
List = _Form("List", list)
Tuple = _Form("Tuple", tuple)
Set = _Form("Set", set)
FrozenSet = _Form("FrozenSet", frozenset)
Type = _Form("Type", type)



def __getattr__(name):
    import collections
    import collections.abc
    if name in ("DefaultDict", "OrderedDict", "Counter", "Deque", "ChainMap"):
        kinds = {"DefaultDict": "defaultdict", "Deque": "deque"}
        return _Form(name, getattr(collections, kinds.get(name, name)))
    if name in ("Iterable", "Iterator", "Sequence", "MutableSequence", "Mapping", "MutableMapping", "Callable",
                "Hashable", "Sized", "Container", "Collection", "Generator", "Reversible", "MutableSet",
                "Awaitable", "Coroutine", "AsyncIterable", "AsyncIterator", "KeysView", "ValuesView", "ItemsView"):
        return _Form(name, getattr(collections.abc, name))
    if name == "AbstractSet":
        return _Form(name, collections.abc.Set)
    if name == "ContextManager":
        from contextlib import AbstractContextManager
        return _Form(name, AbstractContextManager)
    return _Form(name)


class _TypedMeta(type):
    def __new__(cls, name, bases, ns, total=True):
        made = type.__new__(cls, name, (dict,), ns)
        made.__total__ = total
        return made

    def __call__(cls, *args, **kwargs):
        return dict(*args, **kwargs)


class TypedDict(dict, metaclass=_TypedMeta):
    pass


class Generic:
    def __class_getitem__(cls, parameters):
        return cls if cls is Generic else _Alias("%s.%s" % (cls.__module__, cls.__qualname__), cls, parameters)


class _ProtocolMeta(_ABCMeta):
    def __subclasscheck__(cls, subclass):
        if _ABCMeta.__subclasscheck__(cls, subclass):
            return True
        return bool(cls.__dict__.get("_is_runtime")) and all([hasattr(subclass, name) for name in _members(cls)])

    def __instancecheck__(cls, instance):
        if _ABCMeta.__subclasscheck__(cls, type(instance)):
            return True
        return bool(cls.__dict__.get("_is_runtime")) and all([hasattr(instance, name) for name in _members(cls)])


_not_members = ("__module__", "__dict__", "__doc__", "__annotations__", "__abstractmethods__", "__qualname__",
                "__init__", "__slots__", "__class_getitem__", "__hash__")


def _members(cls):
    names = []
    for base in cls.__mro__:
        if isinstance(base, _ProtocolMeta) and base is not Protocol:
            names += [name for name in [*base.__dict__, *(base.__dict__.get("__annotations__") or ())]
                      if not name.startswith("_is_") and name not in _not_members]
    return names


class Protocol(Generic, metaclass=_ProtocolMeta):
    def __class_getitem__(cls, parameters):
        return cls


def runtime_checkable(cls):
    cls._is_runtime = True
    return cls


class TypeVar(_Form):
    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False, **options):
        self._name = self.__name__ = name
        self.__constraints__ = constraints
        self.__bound__ = bound

    def __repr__(self):
        return "~" + self._name


class ParamSpec(TypeVar):
    @property
    def args(self):
        return self

    @property
    def kwargs(self):
        return self


def NewType(name, tp):
    return tp


def cast(typ, val):
    return val


def overload(func):
    return func


def final(func):
    return func


def no_type_check(func):
    return func


def override(func):
    return func


def assert_never(arg):
    raise AssertionError("Expected code to be unreachable, but got: %r" % (arg,))


def assert_type(val, typ):
    return val


def reveal_type(obj):
    return obj


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    hints = {}
    for one in reversed(obj.__mro__) if isinstance(obj, type) else (obj,):
        texts = _support.own(one, "__annotations__") if isinstance(one, type) else one.__annotations__
        found = _support.annotations(texts or {}, getattr(one, "__module__", None), True)
        hints.update({name: _types.NoneType if hint is None else hint for name, hint in found.items()})
    return hints


def get_origin(tp):
    if isinstance(tp, _types.UnionType):
        return _types.UnionType
    return getattr(tp, "__origin__", None) if isinstance(tp, (_Alias, _types.GenericAlias, _Form)) else None


def get_args(tp):
    return getattr(tp, "__args__", ()) if isinstance(tp, (_Alias, _types.GenericAlias, _types.UnionType)) else ()
