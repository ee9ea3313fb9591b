class WeakKeyDictionary(dict):
    pass


class WeakSet(set):
    pass


class WeakValueDictionary:
    def __init__(self):
        self._refs = {}

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
