from abc import ABCMeta as _ABCMeta


class _Meta(_ABCMeta):
    def __subclasscheck__(cls, subclass):
        if cls in subclass.__mro__ or issubclass(subclass, cls.__dict__.get("_kinds", ())):
            return True
        needed = cls.__dict__.get("_needs", ())
        if needed:
            return all([getattr(subclass, name, None) is not None for name in needed])
        return _ABCMeta.__subclasscheck__(cls, subclass)


class Hashable(metaclass=_Meta):
    _needs = ("__hash__",)


class Sized(metaclass=_Meta):
    _needs = ("__len__",)


class Callable(metaclass=_Meta):
    _needs = ("__call__",)


class Container(metaclass=_Meta):
    _needs = ("__contains__",)
    _kinds = (str, bytes, range)


class Iterable(metaclass=_Meta):
    _needs = ("__iter__",)
    _kinds = (str, bytes, range)


class Iterator(Iterable):
    _needs = ("__iter__", "__next__")

    def __iter__(self):
        return self


class Generator(Iterator):
    _needs = ("__iter__", "__next__", "send", "throw", "close")


class Awaitable(metaclass=_Meta):
    _needs = ("__await__",)


class Coroutine(Awaitable):
    _needs = ("__await__", "send", "throw", "close")


class AsyncIterable(metaclass=_Meta):
    _needs = ("__aiter__",)


class AsyncIterator(AsyncIterable):
    _needs = ("__aiter__", "__anext__")

    def __aiter__(self):
        return self


class Reversible(Iterable):
    _needs = ("__reversed__",)
    _kinds = (list, tuple, dict, range)


class Collection(Sized, Iterable, Container):
    _needs = ("__len__", "__iter__", "__contains__")
    _kinds = (str, bytes, range)


class Sequence(Reversible, Collection):
    _needs = ()
    _kinds = (list, tuple, str, bytes, range)

    def __iter__(self):
        at = 0
        try:
            while True:
                yield self[at]
                at += 1
        except IndexError:
            return

    def __contains__(self, value):
        for item in self:
            if item is value or item == value:
                return True
        return False

    def __reversed__(self):
        for at in range(len(self) - 1, -1, -1):
            yield self[at]

    def index(self, value, start=0, stop=None):
        for at in range(start, len(self) if stop is None else stop):
            if self[at] == value:
                return at
        raise ValueError

    def count(self, value):
        return sum([1 for item in self if item == value])


class MutableSequence(Sequence):
    _needs = ()
    _kinds = (list, bytearray)

    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for value in list(values):
            self.append(value)

    def pop(self, index=-1):
        value = self[index]
        del self[index]
        return value

    def remove(self, value):
        del self[self.index(value)]

    def clear(self):
        while len(self):
            self.pop()

    def reverse(self):
        for at in range(len(self) // 2):
            self[at], self[len(self) - at - 1] = self[len(self) - at - 1], self[at]

    def __iadd__(self, values):
        self.extend(values)
        return self


class Set(Collection):
    _needs = ()
    _kinds = (set, frozenset)

    @classmethod
    def _from_iterable(cls, items):
        return cls(items)

    def __le__(self, other):
        return len(self) <= len(other) and all([item in other for item in self])

    def __lt__(self, other):
        return len(self) < len(other) and self <= other

    def __ge__(self, other):
        return len(self) >= len(other) and all([item in self for item in other])

    def __gt__(self, other):
        return len(self) > len(other) and self >= other

    def __eq__(self, other):
        return len(self) == len(other) and self <= other

    def __and__(self, other):
        return self._from_iterable([item for item in other if item in self])

    def __or__(self, other):
        return self._from_iterable([*self, *other])

    def __sub__(self, other):
        return self._from_iterable([item for item in self if item not in other])

    def __xor__(self, other):
        return (self - other) | (self._from_iterable(other) - self)

    def isdisjoint(self, other):
        return not any([item in self for item in other])


class MutableSet(Set):
    _needs = ()
    _kinds = (set,)

    def remove(self, item):
        if item not in self:
            raise KeyError(item)
        self.discard(item)

    def pop(self):
        for item in self:
            self.discard(item)
            return item
        raise KeyError

    def clear(self):
        while len(self):
            self.pop()

    def __ior__(self, other):
        for item in other:
            self.add(item)
        return self


class Mapping(Collection):
    _needs = ()
    _kinds = (dict,)

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return dict.fromkeys(self).keys()

    def items(self):
        return {key: self[key] for key in self}.items()

    def values(self):
        return {key: self[key] for key in self}.values()

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items()) if isinstance(other, Mapping) else NotImplemented


class MutableMapping(Mapping):
    _needs = ()
    _kinds = (dict,)

    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if default:
                return default[0]
            raise
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def clear(self):
        while len(self):
            self.popitem()

    def update(self, other=(), /, **kwargs):
        if hasattr(other, "keys"):
            for key in other.keys():
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key, value in kwargs.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default


class MappingView(Sized):
    _needs = ()


class KeysView(MappingView):
    _kinds = (type({}.keys()),)


class ValuesView(MappingView):
    _kinds = (type({}.values()),)


class ItemsView(MappingView):
    _kinds = (type({}.items()),)


class ByteString(Sequence):
    _kinds = (bytes,)
