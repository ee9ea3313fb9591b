from collections import namedtuple as _namedtuple


class _Form:
    def __init__(self, name, origin=None):
        self._name = name
        self.__origin__ = origin

    def __getitem__(self, parameters):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __or__(self, other):
        return self

    def __ror__(self, other):
        return self

    def __mro_entries__(self, bases):
        return ()

    def __repr__(self):
        return "typing." + self._name


class _NamedTupleBase:
    def __mro_entries__(self, bases):
        return (_NamedTupleMarker,)

    def __call__(self, typename, fields=()):
        return _namedtuple(typename, [name for name, _ in fields])


class _MarkerMeta(type):
    def __new__(cls, typename, bases, ns):
        if typename == "_NamedTupleMarker":
            return type.__new__(cls, typename, bases, ns)
        names = list(ns.get("__annotations__", {}))
        made = _namedtuple(typename, names, defaults=[ns[n] for n in names if n in ns])
        for key, value in ns.items():
            if key not in names and key != "__annotations__":
                setattr(made, key, value)
        return made


class _NamedTupleMarker(metaclass=_MarkerMeta):
    pass


NamedTuple = _NamedTupleBase()
TYPE_CHECKING = False
Dict = _Form("Dict", dict)
List = _Form("List", list)
Tuple = _Form("Tuple", tuple)
Set = _Form("Set", set)
FrozenSet = _Form("FrozenSet", frozenset)
Type = _Form("Type", type)
DefaultDict = _Form("DefaultDict", dict)
OrderedDict = _Form("OrderedDict", dict)


class TypedDict(dict):
    pass


class Protocol:
    pass


def TypeVar(name, *constraints, **options):
    return _Form(name)


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


def runtime_checkable(cls):
    return cls


def get_type_hints(obj, *args, **kwargs):
    return dict(getattr(obj, "__annotations__", {}))


def get_origin(tp):
    return getattr(tp, "__origin__", None)


def get_args(tp):
    return ()


def __getattr__(name):
    return _Form(name)
