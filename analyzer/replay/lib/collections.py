import _support


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **kwargs):
        self.default_factory = default_factory
        super().__init__(*args, **kwargs)

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self.default_factory()
        self[key] = value
        return value

    def copy(self):
        return defaultdict(self.default_factory, self)

    def __repr__(self):
        return "defaultdict(%r, %s)" % (self.default_factory, dict.__repr__(self))


class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        value = self.pop(key)
        if last:
            self[key] = value
            return
        rest = list(self.items())
        self.clear()
        self[key] = value
        self.update(rest)

    def popitem(self, last=True):
        if not self:
            raise KeyError("dictionary is empty")
        key = list(self)[-1 if last else 0]
        return key, self.pop(key)

    def copy(self):
        return type(self)(self)

    def __repr__(self):
        if not self:
            return "%s()" % type(self).__name__
        return "%s(%r)" % (type(self).__name__, list(self.items()))

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return list(self.items()) == list(other.items())
        return dict(self) == other


class Counter(dict):
    def __init__(self, iterable=None, /, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, /, **kwargs):
        if iterable is not None:
            if hasattr(iterable, "items"):
                for key, count in iterable.items():
                    self[key] = self[key] + count
            else:
                for key in iterable:
                    self[key] = self[key] + 1
        for key, count in kwargs.items():
            self[key] = self[key] + count

    def subtract(self, iterable=None, /, **kwargs):
        if iterable is not None:
            if hasattr(iterable, "items"):
                for key, count in iterable.items():
                    self[key] = self[key] - count
            else:
                for key in iterable:
                    self[key] = self[key] - 1
        for key, count in kwargs.items():
            self[key] = self[key] - count

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def elements(self):
        for key, count in self.items():
            for _ in range(count):
                yield key

    def total(self):
        return sum(self.values())

    def copy(self):
        return Counter(self)

    def _combined(self, other, combine):
        result = Counter()
        for key in [*self, *[key for key in other if key not in self]]:
            count = combine(self[key], other[key])
            if count > 0:
                result[key] = count
        return result

    def __add__(self, other):
        return self._combined(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._combined(other, lambda a, b: a - b)

    def __or__(self, other):
        return self._combined(other, max)

    def __and__(self, other):
        return self._combined(other, min)

    def __pos__(self):
        return Counter({k: v for k, v in self.items() if v > 0})

    def __neg__(self):
        return Counter({k: -v for k, v in self.items() if v < 0})

    def __iadd__(self, other):
        for key, count in other.items():
            self[key] = self[key] + count
        return self._kept()

    def __isub__(self, other):
        for key, count in other.items():
            self[key] = self[key] - count
        return self._kept()

    def _kept(self):
        for key in [key for key, count in self.items() if count <= 0]:
            del self[key]
        return self

    def __eq__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all([self[key] == other[key] for key in [*self, *other]])

    def __delitem__(self, key):
        if key in self:
            dict.__delitem__(self, key)

    def __repr__(self):
        if not self:
            return "Counter()"
        return "Counter({%s})" % ", ".join("%r: %r" % pair for pair in self.most_common())


def _field(index):
    return property(lambda self: tuple.__getitem__(self, index))


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    fields = tuple(field_names)
    defaults = tuple(defaults) if defaults is not None else ()
    default_of = dict(zip(fields[len(fields) - len(defaults):], defaults))

    def __new__(cls, *args, **kwargs):
        values = list(args)
        for name in fields[len(args):]:
            if name in kwargs:
                values.append(kwargs.pop(name))
            elif name in default_of:
                values.append(default_of[name])
            else:
                raise TypeError("%s.__new__() missing 1 required positional argument: '%s'" % (typename, name))
        if kwargs or len(values) != len(fields):
            raise TypeError("%s.__new__() takes %d positional arguments but %d were given"
                            % (typename, len(fields) + 1, len(args) + 1))
        return tuple.__new__(cls, values)

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % pair for pair in zip(fields, self)))

    def _asdict(self):
        return dict(zip(fields, self))

    def _replace(self, **kwargs):
        return type(self)(*[kwargs.get(name, value) for name, value in zip(fields, self)])

    def _make(cls, iterable):
        return cls(*iterable)

    namespace = {"__new__": __new__, "__repr__": __repr__, "_asdict": _asdict, "_replace": _replace,
                 "_make": classmethod(_make), "_fields": fields, "__match_args__": fields,
                 "_field_defaults": default_of, "__slots__": ()}
    for index, name in enumerate(fields):
        namespace[name] = _field(index)
    return type(typename, (tuple,), namespace)


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for mapping in self.maps:
            if key in mapping:
                return mapping[key]
        return self.__missing__(key)

    def __missing__(self, key):
        raise KeyError(key)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        if key not in self.maps[0]:
            raise KeyError("Key not found in the first mapping: %r" % (key,))
        del self.maps[0][key]

    def __contains__(self, key):
        return any([key in mapping for mapping in self.maps])

    def _all(self):
        found = {}
        for mapping in reversed(self.maps):
            found.update(dict.fromkeys(mapping))
        return found

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def __bool__(self):
        return any([bool(mapping) for mapping in self.maps])

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        return self._all().keys()

    def items(self):
        return {key: self[key] for key in self}.items()

    def values(self):
        return {key: self[key] for key in self}.values()

    def update(self, *args, **kwargs):
        self.maps[0].update(*args, **kwargs)

    def pop(self, key, *default):
        return self.maps[0].pop(key, *default)

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        self.maps[0].clear()

    def copy(self):
        return type(self)(self.maps[0].copy(), *self.maps[1:])

    def new_child(self, m=None, **kwargs):
        m = kwargs if m is None else m
        return type(self)(m, *self.maps)

    @property
    def parents(self):
        return type(self)(*self.maps[1:])

    def __eq__(self, other):
        return dict(self.items()) == (dict(other.items()) if isinstance(other, ChainMap) else other)

    def __repr__(self):
        return "ChainMap(%s)" % ", ".join([repr(mapping) for mapping in self.maps])


class UserDict:
    def __init__(self, dict=None, /, **kwargs):
        self.data = {}
        if dict is not None:
            self.update(dict)
        if kwargs:
            self.update(kwargs)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, key):
        if key in self.data:
            return self.data[key]
        if hasattr(type(self), "__missing__"):
            return type(self).__missing__(self, key)
        raise KeyError(key)

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, key):
        return key in self.data

    def __repr__(self):
        return repr(self.data)

    def __eq__(self, other):
        return self.data == (other.data if isinstance(other, UserDict) else other)

    def keys(self):
        return self.data.keys()

    def values(self):
        return self.data.values()

    def items(self):
        return self.data.items()

    def get(self, key, default=None):
        return self[key] if key in self else default

    def update(self, other=(), /, **kwargs):
        for key, value in dict(other, **kwargs).items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, *default):
        return self.data.pop(key, *default)

    def popitem(self):
        return self.data.popitem()

    def clear(self):
        self.data.clear()

    def copy(self):
        made = type(self)()
        made.data = self.data.copy()
        return made


class UserList(list):
    @property
    def data(self):
        return list(self)


class UserString(str):
    @property
    def data(self):
        return str(self)
