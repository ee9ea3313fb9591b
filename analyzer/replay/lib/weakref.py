class WeakKeyDictionary:
    def __init__(self, other=()):
        self._items = {}
        self.update(other)

    def update(self, other):
        for key, value in dict(other).items():
            self[key] = value

    def __setitem__(self, key, value):
        items, number = self._items, id(key)
        held = items[number][0] if number in items else ref(key, lambda gone: items.pop(number, None))
        items[number] = (held, value)

    def __getitem__(self, key):
        if id(key) not in self._items:
            raise KeyError(key)
        return self._items[id(key)][1]

    def __delitem__(self, key):
        self.pop(key)

    def pop(self, key, *default):
        if id(key) in self._items:
            return self._items.pop(id(key))[1]
        if default:
            return default[0]
        raise KeyError(key)

    def get(self, key, default=None):
        return self._items[id(key)][1] if id(key) in self._items else default

    def setdefault(self, key, default=None):
        if id(key) not in self._items:
            self[key] = default
        return self[key]

    def clear(self):
        self._items.clear()

    def __contains__(self, key):
        return id(key) in self._items

    def keys(self):
        return [held() for held, value in self._items.values()]

    def values(self):
        return [value for held, value in self._items.values()]

    def items(self):
        return [(held(), value) for held, value in self._items.values()]

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self._items)


class WeakSet:
    def __init__(self, items=()):
        self._items = WeakKeyDictionary()
        self.update(items)

    def add(self, item):
        self._items[item] = True

    def update(self, items):
        for item in items:
            self.add(item)

    def discard(self, item):
        self._items.pop(item, None)

    def remove(self, item):
        self._items.pop(item)

    def clear(self):
        self._items.clear()

    def __contains__(self, item):
        return item in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


class WeakValueDictionary:
    def __init__(self, other=(), **kwargs):
        self._refs = {}
        self.update(other, **kwargs)

    def update(self, other=(), **kwargs):
        for key, value in dict(other, **kwargs).items():
            self[key] = value

    def pop(self, key, *default):
        held = self._refs.pop(key, None)
        value = held() if held is not None else None
        if value is not None:
            return value
        if default:
            return default[0]
        raise KeyError(key)

    def __delitem__(self, key):
        self.pop(key)

    def __setitem__(self, key, value):
        self._refs[key] = ref(value)

    def __getitem__(self, key):
        value = self._refs[key]()
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key, default=None):
        held = self._refs.get(key)
        value = held() if held is not None else None
        return default if value is None else value

    def __contains__(self, key):
        return self.get(key) is not None

    def keys(self):
        return [k for k, r in self._refs.items() if r() is not None]

    def values(self):
        return [v for v in (r() for r in self._refs.values()) if v is not None]

    def items(self):
        return [(k, r()) for k, r in self._refs.items() if r() is not None]

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())


class finalize:
    def __init__(self, obj, func, /, *args, **kwargs):
        self._ref = ref(obj, lambda r: self())
        self._call = (func, args, kwargs)

    def __call__(self, _=None):
        if self._call is not None:
            func, args, kwargs = self._call
            self._call = None
            return func(*args, **kwargs)

    @property
    def alive(self):
        return self._call is not None

    def detach(self):
        self._call = None


class WeakMethod:
    def __init__(self, meth, callback=None):
        self._obj = ref(meth.__self__)
        self._func = meth.__func__

    def __call__(self):
        obj = self._obj()
        return None if obj is None else self._func.__get__(obj)


def proxy(obj, callback=None):
    return obj


def getweakrefcount(obj):
    return 0
