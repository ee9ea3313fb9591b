import _support
import copy as _copy


class _MISSING:
    def __repr__(self):
        return "MISSING"


MISSING = _MISSING()


class Field:
    def __init__(self, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True,
                 metadata=None, kw_only=False):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.metadata = metadata or {}
        self.kw_only = kw_only


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None,
          kw_only=False):
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


class FrozenInstanceError(AttributeError):
    pass


class InitVar:
    pass


class KW_ONLY:
    pass


def _collect(cls):
    found = {}
    for base in reversed(cls.__mro__[1:]):
        own = _support.own(base, "__dataclass_fields__")
        if own:
            found.update(own)
    annotations = _support.own(cls, "__annotations__") or {}
    kw_only = False
    for name, kind in annotations.items():
        if kind == "KW_ONLY" or kind == "dataclasses.KW_ONLY":
            kw_only = True
            continue
        if isinstance(kind, str) and kind.startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = cls.__dict__.get(name, MISSING)
        one = default if isinstance(default, Field) else Field(default)
        one.name = name
        one.type = kind
        one.kw_only = one.kw_only or kw_only
        if isinstance(default, Field):
            if default.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default.default)
        elif isinstance(default, (list, dict, set)):
            raise ValueError("mutable default %s for field %s is not allowed: use default_factory"
                             % (type(default), name))
        found[name] = one
    return found


def _make_init(cls, found):
    def __init__(self, *args, **kwargs):
        positional = [f for f in found.values() if f.init and not f.kw_only]
        if len(args) > len(positional):
            raise TypeError("%s.__init__() takes %d positional arguments but %d were given"
                            % (cls.__qualname__, len(positional) + 1, len(args) + 1))
        values = {f.name: value for f, value in zip(positional, args)}
        values.update(kwargs)
        args = kwargs = None
        for f in found.values():
            if f.init and f.name in values:
                value = values.pop(f.name)
            elif f.default_factory is not MISSING:
                value = f.default_factory()
            elif f.default is not MISSING:
                value = f.default
            elif f.init:
                raise TypeError("%s.__init__() missing 1 required positional argument: '%s'"
                                % (cls.__qualname__, f.name))
            else:
                continue
            object.__setattr__(self, f.name, value)
            value = None
        if values:
            raise TypeError("%s.__init__() got an unexpected keyword argument '%s'"
                            % (cls.__qualname__, next(iter(values))))
        if hasattr(self, "__post_init__"):
            self.__post_init__()
    return __init__


def _refuse(self, name, *value):
    raise FrozenInstanceError("cannot assign to field %r" % name)


def _process(cls, init, repr, eq, order, frozen):
    found = _collect(cls)
    cls.__dataclass_fields__ = found
    cls.__match_args__ = tuple(f.name for f in found.values() if f.init)
    if init and "__init__" not in cls.__dict__:
        cls.__init__ = _make_init(cls, found)
    if repr and "__repr__" not in cls.__dict__:
        def __repr__(self):
            return "%s(%s)" % (type(self).__qualname__, ", ".join(
                "%s=%r" % (f.name, getattr(self, f.name)) for f in found.values() if f.repr))
        cls.__repr__ = __repr__

    def key(self):
        return tuple(getattr(self, f.name) for f in found.values() if f.compare)
    if eq and "__eq__" not in cls.__dict__:
        def __eq__(self, other):
            return key(self) == key(other) if type(other) is type(self) else NotImplemented
        cls.__eq__ = __eq__
        cls.__hash__ = (lambda self: hash(key(self))) if frozen else None
    if order:
        cls.__lt__ = lambda self, other: key(self) < key(other)
        cls.__le__ = lambda self, other: key(self) <= key(other)
        cls.__gt__ = lambda self, other: key(self) > key(other)
        cls.__ge__ = lambda self, other: key(self) >= key(other)
    if frozen:
        cls.__setattr__ = _refuse
        cls.__delattr__ = _refuse
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False,
              match_args=True, kw_only=False, slots=False, weakref_slot=False):
    if cls is None:
        return lambda c: _process(c, init, repr, eq, order, frozen)
    return _process(cls, init, repr, eq, order, frozen)


def fields(thing):
    return tuple(thing.__dataclass_fields__.values())


def is_dataclass(thing):
    return hasattr(thing, "__dataclass_fields__")


def _plain(value):
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(v) for v in value)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return _copy.deepcopy(value)


def asdict(thing, *, dict_factory=dict):
    return _plain(thing)


def astuple(thing, *, tuple_factory=tuple):
    return tuple(_plain(getattr(thing, f.name)) for f in fields(thing))


def replace(thing, /, **changes):
    for f in fields(thing):
        if f.init and f.name not in changes:
            changes[f.name] = getattr(thing, f.name)
    return type(thing)(**changes)


def make_dataclass(name, names, **options):
    return dataclass(type(name, (), {"__annotations__": {n if isinstance(n, str) else n[0]: "object" for n in names}}))
