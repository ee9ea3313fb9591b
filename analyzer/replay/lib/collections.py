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
        return OrderedDict(self)

    def __repr__(self):
        if not self:
            return "OrderedDict()"
        return "OrderedDict(%r)" % list(self.items())

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return list(self.items()) == list(other.items())
        return dict(self) == other


class Counter(dict):
    def __init__(self, iterable=None, **kwargs):
        super().__init__()
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, **kwargs):
        if iterable is not None:
            if hasattr(iterable, "items"):
                for key, count in iterable.items():
                    self[key] = self[key] + count
            else:
                for key in iterable:
                    self[key] = self[key] + 1
        for key, count in kwargs.items():
            self[key] = self[key] + count

    def subtract(self, iterable):
        if hasattr(iterable, "items"):
            for key, count in iterable.items():
                self[key] = self[key] - count
        else:
            for key in iterable:
                self[key] = self[key] - 1

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def elements(self):
        for key, count in self.items():
            for _ in range(count):
                yield key

    def total(self):
        return sum(self.values())

    def __add__(self, other):
        result = Counter()
        for key in [*self, *other]:
            if self[key] + other[key] > 0:
                result[key] = self[key] + other[key]
        return result

    def __sub__(self, other):
        result = Counter()
        for key in self:
            if self[key] - other[key] > 0:
                result[key] = self[key] - other[key]
        return result

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


class ChainMap(dict):
    def __init__(self, *maps):
        super().__init__()
        self.maps = list(maps) or [{}]
        for mapping in reversed(self.maps):
            self.update(mapping)

    def __setitem__(self, key, value):
        self.maps[0][key] = value
        dict.__setitem__(self, key, value)


class UserDict(dict):
    @property
    def data(self):
        return self


class UserList(list):
    @property
    def data(self):
        return self
