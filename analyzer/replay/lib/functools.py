import _support

WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")
WRAPPER_UPDATES = ("__dict__",)


def _copy_names(wrapper, wrapped):
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        value = getattr(wrapped, name, None)
        if value is not None:
            try:
                setattr(wrapper, name, value)
            except AttributeError:
                pass
    try:
        own = _support.attrs(wrapped)
        if own:
            wrapper.__dict__.update(own)
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
        if type(func) is partial:
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __repr__(self):
        parts = [repr(self.func)] + [repr(a) for a in self.args] + ["%s=%r" % p for p in self.keywords.items()]
        return "functools.partial(%s)" % ", ".join(parts)


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, obj, cls=None):
        if hasattr(self.func, "__get__") and not isinstance(self.func, _support.builtin_type("function")):
            return partial(self.func.__get__(obj, cls), *self.args, **self.keywords)
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
        self._func = func
        self._maxsize = maxsize
        self._typed = typed
        self._cache = {}
        self._hits = self._misses = 0
        _copy_names(self, func)

    def __call__(self, *args, **kwargs):
        key = args if not kwargs else (args, tuple(kwargs.items()))
        if self._typed:
            key = (key, tuple([type(a) for a in args]))
        if key in self._cache:
            self._hits += 1
            value = self._cache[key]
            if self._maxsize is not None:
                self._cache[key] = self._cache.pop(key)
            return value
        self._misses += 1
        value = self._func(*args, **kwargs)
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

    def cache_parameters(self):
        return {"maxsize": self._maxsize, "typed": self._typed}


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
    def maxsize(self):
        return self[2]

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

    @property
    def __doc__(self):
        return self.func.__doc__

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

    def __eq__(self, other):
        return self.compare(self.value, other.value) == 0


def cmp_to_key(compare):
    return lambda value: _Key(compare, value)


def total_ordering(cls):
    has = cls.__dict__
    if "__lt__" in has:
        derived = {"__gt__": lambda self, other: not (self < other or self == other),
                   "__le__": lambda self, other: self < other or self == other,
                   "__ge__": lambda self, other: not self < other}
    elif "__gt__" in has:
        derived = {"__lt__": lambda self, other: not (self > other or self == other),
                   "__ge__": lambda self, other: self > other or self == other,
                   "__le__": lambda self, other: not self > other}
    elif "__le__" in has:
        derived = {"__gt__": lambda self, other: not self <= other,
                   "__lt__": lambda self, other: self <= other and not self == other,
                   "__ge__": lambda self, other: not self <= other or self == other}
    elif "__ge__" in has:
        derived = {"__lt__": lambda self, other: not self >= other,
                   "__gt__": lambda self, other: self >= other and not self == other,
                   "__le__": lambda self, other: not self >= other or self == other}
    else:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    for name, method in derived.items():
        if name not in has:
            method.__name__ = name
            setattr(cls, name, method)
    return cls


class singledispatch:
    def __init__(self, func):
        self.func = func
        self.registry = {object: func}
        _copy_names(self, func)

    def register(self, cls, func=None):
        if func is None:
            if isinstance(cls, type):
                return lambda f: self.register(cls, f)
            func = cls
            hints = {name: hint for name, hint in func.__annotations__.items() if name != "return"}
            cls = next(iter(hints.values()), object)
        for one in cls if isinstance(cls, tuple) else (cls,):
            self.registry[one] = func
        return func

    def dispatch(self, cls):
        for base in cls.__mro__:
            if base in self.registry:
                return self.registry[base]
        for base in self.registry:
            if base is not object and issubclass(cls, base):
                return self.registry[base]
        return self.func

    def __call__(self, *args, **kwargs):
        if _support.is_unknown(args[0]):
            return self.func(*args, **kwargs)
        return self.dispatch(type(args[0]))(*args, **kwargs)


class singledispatchmethod:
    def __init__(self, func):
        self.func = func
        self.dispatcher = singledispatch(func)

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, method)

    def __get__(self, obj, cls=None):
        def method(*args, **kwargs):
            return self.dispatcher.dispatch(type(args[0])).__get__(obj, cls)(*args, **kwargs)
        return method
