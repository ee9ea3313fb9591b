import _support


class auto:
    pass


def _is_member(key, value):
    if key.startswith("_") and key.endswith("_") or "__" in key[1:] and key.startswith("_"):
        return False
    return not any([hasattr(value, name) for name in ("__get__", "__set__", "__delete__")])


def _data_type(bases):
    for base in bases:
        for cls in base.__mro__:
            if cls is not object and not isinstance(cls, EnumMeta) and (
                    "__new__" in cls.__dict__ or cls in (int, float, str, bytes, tuple)):
                return cls
    return object


def _own_new(bases, ns):
    new = ns.get("__new__")
    for base in bases:
        if new is None and isinstance(base, EnumMeta):
            new = base.__dict__.get("_own_new_")
    return new


# What is asked for is there as soon as it is stored: ALL = RED | GREEN.
class _Namespace(dict):
    def _begin(self, bases):
        self._last = []
        self._next = None
        for base in reversed(bases):
            if self._next is None and isinstance(base, EnumMeta):
                self._next = base._generate_next_value_

    def __setitem__(self, key, value):
        if key == "_generate_next_value_":
            self._next = value.__func__ if isinstance(value, staticmethod) else value
        elif _is_member(key, value):
            if isinstance(value, auto):
                value = self._next(key, 1, len(self._last), list(self._last))
            elif isinstance(value, tuple):
                value = tuple([self._next(key, 1, len(self._last), list(self._last)) if isinstance(v, auto) else v
                               for v in value])
            self._last.append(value)
        dict.__setitem__(self, key, value)


class EnumMeta(type):
    @classmethod
    def __prepare__(metacls, name, bases, **kwds):
        if name == "Enum" and not bases:
            return {}
        namespace = _Namespace()
        namespace._begin(bases)
        return namespace

    def __new__(metacls, name, bases, ns, *, boundary=None, **kwds):
        ignored = ns.get("_ignore_", ())
        ignored = ignored.replace(",", " ").split() if isinstance(ignored, str) else ignored
        values = {key: value for key, value in ns.items() if _is_member(key, value) and key not in ignored}
        rest = {key: value for key, value in ns.items()
                if key not in values and key not in ignored and key != "__new__"}
        new = _own_new(bases, ns)
        data = _data_type(bases)
        for base in bases:
            if isinstance(base, EnumMeta) and base._member_map_ and values:
                raise TypeError("cannot extend %r" % base)
        made = type.__new__(metacls, name, bases, rest, **kwds)
        type.__setattr__(made, "_member_map_", {})
        type.__setattr__(made, "_own_new_", new)
        type.__setattr__(made, "_member_type_", data)
        if data in (int, float, str, bytes, tuple) and isinstance(bases[-1], EnumMeta):
            for method in ("__repr__", "__str__", "__format__"):
                mixed = [b for b in bases if b is not data and not isinstance(b, EnumMeta)]
                if method not in ns and not any([method in b.__dict__ for b in mixed]):
                    type.__setattr__(made, method, getattr(bases[-1], method))
        last = []
        for key, value in values.items():
            if isinstance(value, auto):
                value = made._generate_next_value_(key, 1, len(last), list(last))
            last.append(metacls._add(made, key, value, new, data))
        return made

    def _add(cls, key, value, new, data):
        args = value if isinstance(value, tuple) and data is not tuple else (value,)
        if new is not None:
            member = new(cls, *args)
        elif data is object:
            member = object.__new__(cls)
        else:
            member = data.__new__(cls, *args)
        attributes = _support.attrs(member)
        if "_value_" not in attributes:
            attributes["_value_"] = value if data is object else data(*args)
        value = attributes["_value_"]
        for other in cls._member_map_.values():
            if other._value_ == value:
                member = other
                break
        else:
            attributes["_name_"] = key
            if cls.__init__ is not object.__init__:
                member.__init__(*args)
        cls._member_map_[key] = member
        type.__setattr__(cls, key, member)
        return value

    def __iter__(cls):
        return iter([m for k, m in cls._member_map_.items() if m._name_ == k and cls._is_shown(m)])

    def __reversed__(cls):
        return reversed(list(iter(cls)))

    def __len__(cls):
        return len(list(iter(cls)))

    def __bool__(cls):
        return True

    def __contains__(cls, member):
        if isinstance(member, cls):
            return True
        return any([member == other._value_ for other in cls._member_map_.values()])

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __setattr__(cls, name, value):
        if name in cls._member_map_:
            raise AttributeError("cannot reassign member %r" % name)
        type.__setattr__(cls, name, value)

    def __call__(cls, value, names=None, **kwargs):
        if names is not None:
            return cls._functional(value, names, **kwargs)
        for member in cls._member_map_.values():
            if member is value or member._value_ == value:
                return member
        member = cls._missing_(value)
        if member is not None:
            return member
        raise ValueError("%r is not a valid %s" % (value, cls.__qualname__))

    def _functional(cls, name, names, module=None, qualname=None, type=None, start=1):
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        if isinstance(names, dict):
            names = names.items()
        ns = {}
        for one in names:
            if isinstance(one, str):
                ns[one] = auto()
            else:
                ns[one[0]] = one[1]
        return EnumMeta.__new__(EnumMeta, name, (cls,) if type is None else (type, cls), ns)

    def __repr__(cls):
        return "<enum %r>" % cls.__name__

    @property
    def __members__(cls):
        return dict(cls._member_map_)


EnumType = EnumMeta


class Enum(metaclass=EnumMeta):
    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        numbers = [value for value in last_values if isinstance(value, int)]
        return max(numbers) + 1 if numbers else start

    @classmethod
    def _missing_(cls, value):
        return None

    @classmethod
    def _is_shown(cls, member):
        return True

    def __repr__(self):
        return "<%s.%s: %r>" % (type(self).__name__, self._name_, self._value_)

    def __str__(self):
        return "%s.%s" % (type(self).__name__, self._name_)

    def __format__(self, spec):
        return format(str(self), spec)

    def __hash__(self):
        return hash(self._name_)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class ReprEnum(Enum):
    pass


class IntEnum(int, ReprEnum):
    def __str__(self):
        return repr(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)

    def __hash__(self):
        return hash(self._value_)


class StrEnum(str, ReprEnum):
    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()

    def __str__(self):
        return self._value_

    def __format__(self, spec):
        return format(self._value_, spec)

    def __hash__(self):
        return hash(self._value_)


def _value_of(flag, other):
    if isinstance(other, type(flag)):
        return other._value_
    return other if isinstance(flag, int) and isinstance(other, int) else None


class Flag(Enum):
    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return 2 ** max(last_values).bit_length() if last_values else start

    @classmethod
    def _is_shown(cls, member):
        return member._value_ > 0 and member._value_ & (member._value_ - 1) == 0

    @classmethod
    def _all(cls):
        bits = 0
        for member in cls._member_map_.values():
            bits |= member._value_
        return bits

    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int):
            raise ValueError("%r is not a valid %s" % (value, cls.__qualname__))
        known = cls.__dict__.get("_composites_")
        if known is None:
            known = {}
            type.__setattr__(cls, "_composites_", known)
        if value < 0:
            value += 1 << cls._all().bit_length()
        if value & ~cls._all() and not issubclass(cls, int):
            raise ValueError("%r is not a valid %s" % (value, cls.__qualname__))
        for member in cls._member_map_.values():
            if member._value_ == value:
                return member
        if value not in known:
            member = int.__new__(cls, value) if issubclass(cls, int) else object.__new__(cls)
            attributes = _support.attrs(member)
            attributes["_value_"] = value
            attributes["_name_"] = "|".join([m._name_ for m in cls if m._value_ & value]) or None
            known[value] = member
        return known[value]

    def __or__(self, other):
        value = _value_of(self, other)
        return NotImplemented if value is None else type(self)(self._value_ | value)

    def __and__(self, other):
        value = _value_of(self, other)
        return NotImplemented if value is None else type(self)(self._value_ & value)

    def __xor__(self, other):
        value = _value_of(self, other)
        return NotImplemented if value is None else type(self)(self._value_ ^ value)

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def __invert__(self):
        return type(self)(type(self)._all() & ~self._value_)

    def __contains__(self, other):
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        return iter([m for m in type(self) if m._value_ & self._value_])

    def __len__(self):
        return bin(self._value_).count("1")

    def __bool__(self):
        return self._value_ != 0

    def __repr__(self):
        if self._name_ is None:
            return "<%s: %r>" % (type(self).__name__, self._value_)
        return "<%s.%s: %r>" % (type(self).__name__, self._name_, self._value_)

    def __str__(self):
        if self._name_ is None:
            return "%s(%r)" % (type(self).__name__, self._value_)
        return "%s.%s" % (type(self).__name__, self._name_)

    def __hash__(self):
        return hash(self._value_)


class IntFlag(int, ReprEnum, Flag):
    __str__ = IntEnum.__str__
    __format__ = IntEnum.__format__
    __hash__ = IntEnum.__hash__


def unique(cls):
    double = [(key, m._name_) for key, m in cls._member_map_.items() if m._name_ != key]
    if double:
        raise ValueError("duplicate values found in %r: %s"
                         % (cls, ", ".join(["%s -> %s" % pair for pair in double])))
    return cls


def member(value):
    return value


def nonmember(value):
    return property(lambda self: value)


def verify(*checks):
    return lambda cls: cls


def global_enum(cls):
    return cls
