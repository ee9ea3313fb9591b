import builtins as _builtins
import _support
import _torch


def _guarded(make, func):
    def wrapper(*args, **kwargs):
        with make():
            return func(*args, **kwargs)

    def generator(*args, **kwargs):
        gen = func(*args, **kwargs)
        sent = None
        while True:
            try:
                with make():
                    value = gen.send(sent)
            except StopIteration as stop:
                return stop.value
            sent = yield value
    made = generator if _support.is_generator_function(func) else wrapper
    try:
        made.__name__ = func.__name__
        made.__qualname__ = func.__qualname__
    except AttributeError:
        pass
    made.__wrapped__ = func
    return made


class _HookHandle:
    def __init__(self, id):
        self.id = id

    def remove(self):
        _torch.hook_remove(self.id)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class _Mode:
    _mode = 1

    def __new__(cls, orig_func=None):
        if orig_func is None:
            return object.__new__(cls)
        return object.__new__(cls)(orig_func)

    def __init__(self, orig_func=None):
        pass

    def __enter__(self):
        self.prev = _torch.mode_get()
        _torch.mode_set(self._mode)

    def __exit__(self, exc_type, exc_value, traceback):
        _torch.mode_set(self.prev)

    def __call__(self, func):
        if isinstance(func, type):
            return func
        return _guarded(type(self), func)

    def clone(self):
        return type(self)()


class no_grad(_Mode):
    _mode = 0


class enable_grad(_Mode):
    _mode = 1


class inference_mode:
    def __new__(cls, mode=True):
        if callable(mode):
            return _guarded(cls, mode)
        return object.__new__(cls)

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self.prev = _torch.mode_get()
        if self.mode:
            _torch.mode_set(2)

    def __exit__(self, *exc):
        _torch.mode_set(self.prev)

    def __call__(self, func):
        mode = self.mode
        return _guarded(lambda: inference_mode(mode), func)


class set_grad_enabled:
    def __init__(self, mode):
        self.prev = _torch.mode_get()
        self.mode = True if mode else False
        _torch.mode_set(1 if self.mode else 0)

    def __enter__(self):
        _torch.mode_set(1 if self.mode else 0)

    def __exit__(self, *exc):
        _torch.mode_set(self.prev)

    def __call__(self, func):
        _torch.mode_set(self.prev)
        mode = self.mode
        return _guarded(lambda: set_grad_enabled(mode), func)


def is_grad_enabled():
    return _torch.is_grad_enabled()


def is_inference_mode_enabled():
    return _torch.mode_get() == 2


def seed():
    return 0


def initial_seed():
    return 0


class Generator:
    def __init__(self, device="cpu"):
        self.device = device
        self._seed = 67280421310721
        self._stream = _torch.stream_new(self._seed)

    def manual_seed(self, seed):
        self._seed = seed
        self._stream = _torch.stream_new(seed)
        return self

    def seed(self):
        return self._seed

    def initial_seed(self):
        return self._seed

    def get_state(self):
        return self._stream[:]


def save(obj, f, *args, **kwargs):
    pass


def load(f, *args, **kwargs):
    return _support.unknown("torch.load()")


def compile(model=None, **kwargs):
    if model is None:
        return lambda m: m
    return model


def get_rng_state():
    return _torch.stream_copy()


def set_rng_state(state):
    _torch.stream_swap(state[:])


def is_floating_point(x):
    return x.is_floating_point()


def is_complex(x):
    return x.dtype.is_complex


def set_printoptions(*args, **kwargs):
    pass


def use_deterministic_algorithms(mode, warn_only=False):
    pass


def set_num_threads(n):
    pass


def get_num_threads():
    return 1


def set_float32_matmul_precision(precision):
    pass


def set_default_device(device):
    pass


def set_default_tensor_type(t):
    pass


def typename(obj):
    return type(obj).__name__


def clone(x, **kwargs):
    return x.clone()


def detach(x):
    return x.detach()


def is_nonzero(x):
    return _builtins.bool(x)


class _Finfo:
    def __init__(self, eps, max, tiny):
        self.eps = eps
        self.max = max
        self.min = -max
        self.tiny = tiny
        self.smallest_normal = tiny


def finfo(dtype=None):
    if dtype is float64:
        return _Finfo(2.220446049250313e-16, 1.7976931348623157e+308, 2.2250738585072014e-308)
    if dtype is float16:
        return _Finfo(0.0009765625, 65504.0, 6.103515625e-05)
    if dtype is bfloat16:
        return _Finfo(0.0078125, 3.3895313892515355e+38, 1.1754943508222875e-38)
    return _Finfo(1.1920928955078125e-07, 3.4028234663852886e+38, 1.1754943508222875e-38)


class _Iinfo:
    def __init__(self, bits):
        self.bits = bits
        self.max = 2 ** (bits - 1) - 1
        self.min = -2 ** (bits - 1)


def iinfo(dtype):
    return _Iinfo(dtype.itemsize * 8)


class autocast:
    def __init__(self, device_type=None, dtype=None, enabled=True, cache_enabled=None):
        self._enabled = enabled
        self._device_type = device_type
        self._note()

    # Without an accelerator torch switches its autocast off; that of the CPU would change dtypes.
    def _note(self):
        if self._device_type not in ("cuda", "mps", "xpu") and (_support.is_unknown(self._enabled) or self._enabled):
            _support.unknown("torch.autocast")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def __call__(self, func):
        return func


def vmap(func, *args, **kwargs):
    return _support.unknown("torch.vmap()")


class FloatTensor(Tensor):
    pass


class LongTensor(Tensor):
    def __new__(cls, *args):
        return tensor(args[0], dtype=int64) if args and not isinstance(args[0], _builtins.int) else zeros(*args, dtype=int64)


class BoolTensor(Tensor):
    def __new__(cls, *args):
        return tensor(args[0], dtype=bool) if args and not isinstance(args[0], _builtins.int) else zeros(*args, dtype=bool)


class DoubleTensor(Tensor):
    def __new__(cls, *args):
        return tensor(args[0], dtype=float64) if args and not isinstance(args[0], _builtins.int) else zeros(*args, dtype=float64)


def broadcast_tensors(*tensors):
    shape = broadcast_shapes(*[t.shape for t in tensors])
    return tuple(t if t.shape == shape else t.expand(shape) for t in tensors)


def broadcast_shapes(*shapes):
    ndim = max(len(s) for s in shapes)
    result = [1] * ndim
    for s in shapes:
        for i, n in enumerate(s):
            at = ndim - len(s) + i
            result[at] = n if result[at] == 1 else result[at]
    return Size(result)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return _builtins.bool(((input - other).abs() <= atol + rtol * other.abs()).all())


def equal(input, other):
    return input.shape == other.shape and _builtins.bool((input == other).all())
