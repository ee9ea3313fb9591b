class Iterable:
    @classmethod
    def __subclasshook__(cls, other):
        return hasattr(other, "__iter__")


class _Meta(type):
    def __instancecheck__(cls, other):
        return any(issubclass(other, kind) for kind in cls.kinds)


class Mapping(metaclass=_Meta):
    kinds = (dict,)


class MutableMapping(Mapping):
    pass


class Sequence(metaclass=_Meta):
    kinds = (list, tuple, str, range)


class MutableSequence(metaclass=_Meta):
    kinds = (list,)


class Set(metaclass=_Meta):
    kinds = (set, frozenset)


class Callable(metaclass=_Meta):
    kinds = ()


class Iterator(metaclass=_Meta):
    kinds = ()


class Generator(metaclass=_Meta):
    kinds = ()


class Hashable(metaclass=_Meta):
    kinds = ()


class Sized(metaclass=_Meta):
    kinds = (list, tuple, dict, set, str)


class Container(metaclass=_Meta):
    kinds = (list, tuple, dict, set, str)


class Collection(metaclass=_Meta):
    kinds = (list, tuple, dict, set, str)
