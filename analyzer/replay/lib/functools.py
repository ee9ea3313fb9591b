def _copy_names(wrapper, wrapped):
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        value = getattr(wrapped, name, None)
        if value is not None:
            try:
                setattr(wrapper, name, value)
            except AttributeError:
                pass
    try:
        wrapper.__wrapped__ = wrapped
    except AttributeError:
        pass
    return wrapper


def update_wrapper(wrapper, wrapped, assigned=(), updated=()):
    return _copy_names(wrapper, wrapped)


def wraps(wrapped, assigned=(), updated=()):
    return lambda wrapper: _copy_names(wrapper, wrapped)


class partial:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, obj, cls=None):
        return partial(self.func, obj, *self.args, **self.keywords)


def reduce(function, sequence, *initial):
    it = iter(sequence)
    if initial:
        value = initial[0]
    else:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    for element in it:
        value = function(value, element)
    return value


class _lru_cache_wrapper:
    def __init__(self, func, maxsize, typed):
        self.__wrapped__ = func
        self._maxsize = maxsize
        self._cache = {}
        self._hits = self._misses = 0
        self.__name__ = getattr(func, "__name__", "cached")

    def __call__(self, *args, **kwargs):
        key = args if not kwargs else (args, tuple(sorted(kwargs.items())))
        if key in self._cache:
            self._hits += 1
            value = self._cache[key]
            if self._maxsize is not None:
                self._cache[key] = self._cache.pop(key)
            return value
        self._misses += 1
        value = self.__wrapped__(*args, **kwargs)
        if self._maxsize == 0:
            return value
        if self._maxsize is not None and len(self._cache) >= self._maxsize:
            del self._cache[next(iter(self._cache))]
        self._cache[key] = value
        return value

    def __get__(self, obj, cls=None):
        return self if obj is None else partial(self, obj)

    def cache_clear(self):
        self._cache.clear()
        self._hits = self._misses = 0

    def cache_info(self):
        return _CacheInfo(self._hits, self._misses, self._maxsize, len(self._cache))


class _CacheInfo(tuple):
    def __new__(cls, hits, misses, maxsize, currsize):
        return tuple.__new__(cls, (hits, misses, maxsize, currsize))

    @property
    def hits(self):
        return self[0]

    @property
    def misses(self):
        return self[1]

    @property
    def currsize(self):
        return self[3]

    def __repr__(self):
        return "CacheInfo(hits=%r, misses=%r, maxsize=%r, currsize=%r)" % (self[0], self[1], self[2], self[3])


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _lru_cache_wrapper(maxsize, 128, False)
    return lambda func: _lru_cache_wrapper(func, maxsize, typed)


def cache(func):
    return _lru_cache_wrapper(func, None, False)


class cached_property:
    def __init__(self, func):
        self.func = func
        self.name = None

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        value = self.func(obj)
        obj.__dict__[self.name] = value
        return value


class _Key:
    def __init__(self, compare, value):
        self.compare = compare
        self.value = value

    def __lt__(self, other):
        return self.compare(self.value, other.value) < 0


def cmp_to_key(compare):
    return lambda value: _Key(compare, value)


def total_ordering(cls):
    if "__lt__" in cls.__dict__:
        cls.__gt__ = lambda self, other: not (self < other or self == other)
        cls.__le__ = lambda self, other: self < other or self == other
        cls.__ge__ = lambda self, other: not self < other
    elif "__gt__" in cls.__dict__:
        cls.__lt__ = lambda self, other: not (self > other or self == other)
        cls.__ge__ = lambda self, other: self > other or self == other
        cls.__le__ = lambda self, other: not self > other
    elif "__le__" in cls.__dict__:
        cls.__gt__ = lambda self, other: not self <= other
        cls.__lt__ = lambda self, other: self <= other and not self == other
        cls.__ge__ = lambda self, other: not self <= other or self == other
    return cls


class singledispatch:
    def __init__(self, func):
        self.func = func
        self.registry = {}

    def register(self, cls, func=None):
        if func is None:
            return lambda f: self.register(cls, f)
        self.registry[cls] = func
        return func

    def __call__(self, *args, **kwargs):
        for cls in type(args[0]).__mro__:
            if cls in self.registry:
                return self.registry[cls](*args, **kwargs)
        return self.func(*args, **kwargs)
