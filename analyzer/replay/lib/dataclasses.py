import _support
import copy as _copy


class _MISSING:
    def __repr__(self):
        return "<dataclasses._MISSING_TYPE object>"


MISSING = _MISSING()


class Field:
    def __init__(self, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True,
                 metadata=None, kw_only=MISSING):
        if default is not MISSING and default_factory is not MISSING:
            raise ValueError("cannot specify both default and default_factory")
        self.name = None
        self._text = None
        self._module = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = metadata or {}
        self.kw_only = kw_only
        self.once = False

    @property
    def type(self):
        return _support.annotations({"type": self._text}, self._module)["type"]

    def __repr__(self):
        return "Field(name=%r,type=%r,default=%r,default_factory=%r,init=%r,repr=%r,hash=%r,compare=%r," \
            "metadata=mappingproxy(%r),kw_only=%r,_field_type=_FIELD)" % (
                self.name, self.type, self.default, self.default_factory, self.init, self.repr, self.hash,
                self.compare, self.metadata, self.kw_only)


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None,
          kw_only=MISSING):
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


class FrozenInstanceError(AttributeError):
    pass


class InitVar:
    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, type):
        return InitVar(type)


class KW_ONLY:
    pass


def _is_mark(kind, name):
    return isinstance(kind, str) and kind.split("[")[0].split(".")[-1] == name


def _collect(cls, kw_only):
    found = {}
    for base in reversed(cls.__mro__[1:]):
        own = _support.own(base, "__dataclass_fields__")
        if own:
            found.update(own)
    annotations = _support.own(cls, "__annotations__") or {}
    for name, kind in annotations.items():
        if kind is KW_ONLY or _is_mark(kind, "KW_ONLY"):
            kw_only = True
            continue
        if _is_mark(kind, "ClassVar"):
            continue
        default = cls.__dict__.get(name, MISSING)
        one = default if isinstance(default, Field) else Field(default)
        one.name = name
        one._text = kind
        one._module = cls.__module__
        one.once = _is_mark(kind, "InitVar") or isinstance(kind, InitVar)
        if one.kw_only is MISSING:
            one.kw_only = kw_only
        if isinstance(default, Field):
            if default.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default.default)
        if one.default is not MISSING and isinstance(one.default, (list, dict, set)):
            raise ValueError("mutable default %s for field %s is not allowed: use default_factory"
                             % (type(one.default), name))
        found[name] = one
    needed = None
    for one in found.values():
        if one.init and not one.kw_only:
            if one.default is not MISSING or one.default_factory is not MISSING:
                needed = one
            elif needed is not None:
                raise TypeError("non-default argument %r follows default argument" % one.name)
    return found


def _missing_names(cls, names, sort):
    quoted = ["'%s'" % name for name in names]
    text = quoted[0] if len(quoted) == 1 else " and ".join(quoted) if len(quoted) == 2 \
        else ", ".join(quoted[:-1]) + ", and " + quoted[-1]
    raise TypeError("%s.__init__() missing %d required %s argument%s: %s"
                    % (cls.__qualname__, len(names), sort, "" if len(names) == 1 else "s", text))


def _check_missing(cls, found, values):
    for only, sort in ((False, "positional"), (True, "keyword-only")):
        names = [f.name for f in found.values() if f.init and f.kw_only == only and f.name not in values
                 and f.default is MISSING and f.default_factory is MISSING]
        if names:
            _missing_names(cls, names, sort)


def _make_init(cls, found):
    def __init__(self, *args, **kwargs):
        positional = [f for f in found.values() if f.init and not f.kw_only]
        if len(args) > len(positional):
            most = len(positional) + 1
            raise TypeError("%s.__init__() takes %d positional argument%s but %d were given"
                            % (cls.__qualname__, most, "" if most == 1 else "s", len(args) + 1))
        values = {f.name: value for f, value in zip(positional, args)}
        for name in kwargs:
            if name in values:
                raise TypeError("%s.__init__() got multiple values for argument '%s'" % (cls.__qualname__, name))
        values.update(kwargs)
        args = kwargs = None
        for name in values:
            if name not in found or not found[name].init:
                raise TypeError("%s.__init__() got an unexpected keyword argument '%s'" % (cls.__qualname__, name))
        _check_missing(cls, found, values)
        once = []
        for f in found.values():
            if f.init and f.name in values:
                value = values.pop(f.name)
            elif f.default_factory is not MISSING:
                value = f.default_factory()
            elif f.default is not MISSING:
                value = f.default
            else:
                continue
            if f.once:
                once.append(value)
            else:
                object.__setattr__(self, f.name, value)
            value = None
        if hasattr(self, "__post_init__"):
            self.__post_init__(*once)
    return __init__


def _refuse_set(self, name, value):
    raise FrozenInstanceError("cannot assign to field %r" % name)


def _refuse_delete(self, name):
    raise FrozenInstanceError("cannot delete field %r" % name)


def _order(cls, name, compare, key):
    def method(self, other):
        return compare(key(self), key(other)) if type(other) is type(self) else NotImplemented
    method.__name__ = name
    setattr(cls, name, method)


def _add_equality(cls, options, fields):
    def key(self):
        return tuple([getattr(self, f.name) for f in fields if f.compare])

    def hashed(self):
        return hash(tuple([getattr(self, f.name) for f in fields
                           if (f.compare if f.hash is None else f.hash)]))
    own_hash = _support.own(cls, "__hash__")
    if options["eq"] and "__eq__" not in cls.__dict__:
        def __eq__(self, other):
            return key(self) == key(other) if type(other) is type(self) else NotImplemented
        cls.__eq__ = __eq__
    if options["unsafe_hash"] or options["eq"] and options["frozen"] and own_hash is None:
        cls.__hash__ = hashed
    elif options["eq"] and own_hash is None:
        cls.__hash__ = None
    if options["order"]:
        _order(cls, "__lt__", lambda a, b: a < b, key)
        _order(cls, "__le__", lambda a, b: a <= b, key)
        _order(cls, "__gt__", lambda a, b: a > b, key)
        _order(cls, "__ge__", lambda a, b: a >= b, key)


def _process(cls, options):
    found = _collect(cls, options["kw_only"])
    fields = [f for f in found.values() if not f.once]
    cls.__dataclass_fields__ = found
    cls.__match_args__ = tuple([f.name for f in found.values() if f.init and not f.kw_only])
    if options["init"] and "__init__" not in cls.__dict__:
        cls.__init__ = _make_init(cls, found)
    if options["repr"] and "__repr__" not in cls.__dict__:
        def __repr__(self):
            return "%s(%s)" % (type(self).__qualname__, ", ".join(
                ["%s=%r" % (f.name, getattr(self, f.name)) for f in fields if f.repr]))
        cls.__repr__ = __repr__
    _add_equality(cls, options, fields)
    if options["frozen"]:
        cls.__setattr__ = _refuse_set
        cls.__delattr__ = _refuse_delete
    return cls


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False,
              match_args=True, kw_only=False, slots=False, weakref_slot=False):
    options = {"init": init, "repr": repr, "eq": eq, "order": order, "unsafe_hash": unsafe_hash, "frozen": frozen,
               "kw_only": kw_only}
    if cls is None:
        return lambda c: _process(c, options)
    return _process(cls, options)


def fields(thing):
    if not hasattr(thing, "__dataclass_fields__"):
        raise TypeError("must be called with a dataclass type or instance")
    return tuple([f for f in thing.__dataclass_fields__.values() if not f.once])


def is_dataclass(thing):
    return hasattr(thing, "__dataclass_fields__")


def _plain(value, factory):
    if is_dataclass(value) and not isinstance(value, type):
        return factory([(f.name, _plain(getattr(value, f.name), factory)) for f in fields(value)])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_plain(v, factory) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([_plain(v, factory) for v in value])
    if isinstance(value, dict):
        return type(value)([(_plain(k, factory), _plain(v, factory)) for k, v in value.items()])
    return _copy.deepcopy(value)


def asdict(thing, *, dict_factory=dict):
    if not is_dataclass(thing) or isinstance(thing, type):
        raise TypeError("asdict() should be called on dataclass instances")
    return _plain(thing, dict_factory)


def _row(value, factory):
    if is_dataclass(value) and not isinstance(value, type):
        return factory([_row(getattr(value, f.name), factory) for f in fields(value)])
    if isinstance(value, (list, tuple)):
        return type(value)([_row(v, factory) for v in value])
    if isinstance(value, dict):
        return type(value)([(_row(k, factory), _row(v, factory)) for k, v in value.items()])
    return _copy.deepcopy(value)


def astuple(thing, *, tuple_factory=tuple):
    return _row(thing, tuple_factory)


def replace(thing, /, **changes):
    for f in thing.__dataclass_fields__.values():
        if not f.init:
            if f.name in changes:
                raise ValueError("field %s is declared with init=False, it cannot be specified with replace()"
                                 % f.name)
        elif f.name not in changes:
            if f.once and f.default is MISSING:
                raise ValueError("InitVar %r must be specified with replace()" % f.name)
            if not f.once:
                changes[f.name] = getattr(thing, f.name)
    return type(thing)(**changes)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    ns = dict(namespace or {})
    ns["__annotations__"] = {}
    for one in fields:
        name, kind, *default = (one, "object") if isinstance(one, str) else one
        ns["__annotations__"][name] = kind
        if default:
            ns[name] = default[0]
    return dataclass(type(cls_name, tuple(bases), ns), **options)
