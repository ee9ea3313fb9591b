class auto:
    pass


class _Namespace(dict):
    pass


class EnumMeta(type):
    def __new__(cls, name, bases, ns, **kwds):
        made = type.__new__(cls, name, bases, ns)
        members = {}
        last = 0
        mixed = [b for base in bases for b in base.__mro__ if b in (str, int, float)]
        for key, value in list(ns.items()):
            if key.startswith("_") or hasattr(value, "__get__") or callable(value) \
                    or isinstance(value, (property, classmethod, staticmethod)):
                continue
            if isinstance(value, auto):
                value = key.lower() if str in mixed else last + 1
            if isinstance(value, int):
                last = value
            for member in members.values():
                if member._value_ == value:
                    break
            else:
                member = str.__new__(made, value) if str in mixed else object.__new__(made)
                member._value_ = value
                member._name_ = key
            members[key] = member
            setattr(made, key, member)
        made._member_map_ = members
        return made

    def __iter__(cls):
        return iter([m for k, m in cls._member_map_.items() if m._name_ == k])

    def __len__(cls):
        return len(cls._member_map_)

    def __contains__(cls, member):
        return member in cls._member_map_.values()

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __call__(cls, value, *args, **kwargs):
        if args or kwargs:
            return type.__call__(cls, value, *args, **kwargs)
        for member in cls._member_map_.values():
            if member is value or member._value_ == value:
                return member
        raise ValueError("%r is not a valid %s" % (value, cls.__qualname__))

    @property
    def __members__(cls):
        return dict(cls._member_map_)


class Enum(metaclass=EnumMeta):
    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    def __repr__(self):
        return "<%s.%s: %r>" % (type(self).__name__, self._name_, self._value_)

    def __str__(self):
        return "%s.%s" % (type(self).__name__, self._name_)

    def __hash__(self):
        return hash(self._name_)

    def __eq__(self, other):
        return self is other


class IntEnum(Enum):
    def __eq__(self, other):
        return self._value_ == (other._value_ if isinstance(other, Enum) else other)

    def __hash__(self):
        return hash(self._value_)

    def __index__(self):
        return self._value_

    def __int__(self):
        return self._value_

    def __lt__(self, other):
        return self._value_ < int(other)

    def __le__(self, other):
        return self._value_ <= int(other)

    def __gt__(self, other):
        return self._value_ > int(other)

    def __ge__(self, other):
        return self._value_ >= int(other)

    def __add__(self, other):
        return self._value_ + other

    def __str__(self):
        return str(self._value_)


class StrEnum(str, Enum):
    def __str__(self):
        return self._value_


class Flag(IntEnum):
    def __or__(self, other):
        return self._value_ | int(other)

    def __and__(self, other):
        return self._value_ & int(other)


class IntFlag(Flag):
    pass


def unique(cls):
    return cls
