import builtins as _builtins
import _support
import _torch


def _named_as(made, func):
    try:
        made.__name__ = func.__name__
        made.__qualname__ = func.__qualname__
    except AttributeError:
        pass
    made.__wrapped__ = func
    return made


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
    return _named_as(generator if _support.is_generator_function(func) else wrapper, func)


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

    def __enter__(self):
        self.prev = _torch.mode_swap(self._mode)

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


# What a file of tensors holds: their numbers, which are not the program's memory.
class _Frozen:
    _MOST = 1 << 16

    def __init__(self, t):
        self.shape = t.shape
        self.dtype = t.dtype
        self.requires_grad = t.requires_grad
        self.is_parameter = isinstance(t, nn.Parameter)
        values = t.detach().reshape(-1).tolist() if t.numel() <= self._MOST else None
        self.values = None if _support.is_unknown(values) else values

    def thaw(self):
        if self.values is None or _support.is_unknown(self.values):
            t = _torch.opaque("torch.load", (zeros(self.shape, dtype=self.dtype),))
        else:
            t = tensor(self.values, dtype=self.dtype).view(self.shape).clone()
        if self.is_parameter:
            return nn.Parameter(t, requires_grad=self.requires_grad)
        return t.requires_grad_(True) if self.requires_grad else t


# A copy of whatever holds tensors, each of which `change` makes something else of.
def _changed(x, kind, change, memo):
    if x is None or isinstance(x, (_builtins.int, _builtins.float, str, bytes, type, range)):
        return x
    known = memo.get(id(x))
    if known is not None:
        return known[0]
    if isinstance(x, kind):
        y = change(x)
    elif isinstance(x, tuple):
        parts = [_changed(v, kind, change, memo) for v in x]
        y = type(x)(*parts) if hasattr(x, "_fields") else tuple(parts) if type(x) is tuple else x
    elif isinstance(x, (list, dict, set)) or hasattr(x, "__dict__") and not callable(x) or isinstance(x, nn.Module):
        return _changed_object(x, kind, change, memo)
    else:
        y = x
    memo[id(x)] = (y, x)
    return y


def _changed_object(x, kind, change, memo):
    y = type(x).__new__(type(x))
    memo[id(x)] = (y, x)
    for name, value in list(x.__dict__.items()) if hasattr(x, "__dict__") else []:
        y.__dict__[name] = _changed(value, kind, change, memo)
    if isinstance(x, dict):
        for key, value in x.items():
            dict.__setitem__(y, _changed(key, kind, change, memo), _changed(value, kind, change, memo))
    elif isinstance(x, list):
        for value in x:
            list.append(y, _changed(value, kind, change, memo))
    elif isinstance(x, set):
        for value in x:
            y.add(_changed(value, kind, change, memo))
    return y


_files = {}


def save(obj, f, *args, **kwargs):
    saved = None if _support.is_unknown(obj) else (_changed(obj, Tensor, _Frozen, {}),)
    if hasattr(f, "write"):
        f._saved = saved
    elif not _support.is_unknown(f):
        _files[str(f)] = saved


def load(f, *args, **kwargs):
    saved = None
    if hasattr(f, "read"):
        saved = getattr(f, "_saved", None)
    elif not _support.is_unknown(f):
        saved = _files.get(str(f))
    if saved is None or _support.is_unknown(saved):
        return _support.unknown("torch.load()")
    return _changed(saved[0], _Frozen, _Frozen.thaw, {})


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
    def __init__(self, dtype, eps, max, tiny):
        self.eps = eps
        self.max = max
        self.min = -max
        self.tiny = tiny
        self.smallest_normal = tiny
        self.bits = {float64: 64, float32: 32}.get(dtype, 16)
        self.resolution = {float64: 1e-15, float32: 1e-06, float16: 0.001}.get(dtype, 0.01)


def finfo(dtype=None):
    if dtype is float64:
        return _Finfo(dtype, 2.220446049250313e-16, 1.7976931348623157e+308, 2.2250738585072014e-308)
    if dtype is float16:
        return _Finfo(dtype, 0.0009765625, 65504.0, 6.103515625e-05)
    if dtype is bfloat16:
        return _Finfo(dtype, 0.0078125, 3.3895313892515355e+38, 1.1754943508222875e-38)
    return _Finfo(float32, 1.1920928955078125e-07, 3.4028234663852886e+38, 1.1754943508222875e-38)


class _Iinfo:
    def __init__(self, bits):
        self.bits = bits
        self.max = 2 ** (bits - 1) - 1
        self.min = -2 ** (bits - 1)


def iinfo(dtype):
    return _Iinfo(dtype.itemsize * 8)


# Of devices that the runtime does not have: (enabled, dtype), once they were set.
_autocast_elsewhere = {}


def _autocast_default(device_type):
    if device_type in ("maia", "hpu", "xla"):
        return bfloat16
    if device_type in ("cuda", "mps", "xpu", "mtia", "ipu", "privateuseone"):
        return float16
    raise RuntimeError("unsupported scalarType")


def _autocast_here(device_type):
    return device_type == "cpu" or device_type == "cuda"


def is_autocast_enabled(device_type="cuda"):
    if _autocast_here(device_type):
        return _torch.autocast_state(device_type == "cuda")[0]
    _autocast_default(device_type)
    return _autocast_elsewhere.get(device_type, (False, None))[0]


def get_autocast_dtype(device_type):
    if _autocast_here(device_type):
        return _torch.autocast_state(device_type == "cuda")[1]
    return _autocast_elsewhere.get(device_type, (False, _autocast_default(device_type)))[1]


def set_autocast_enabled(device_type, enabled=None):
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if _autocast_here(device_type):
        state = _torch.autocast_state(device_type == "cuda")
        _torch.autocast_set(device_type == "cuda", enabled, state[1], state[2])
    else:
        _autocast_elsewhere[device_type] = (enabled, get_autocast_dtype(device_type))


def set_autocast_dtype(device_type, dtype):
    if _autocast_here(device_type):
        state = _torch.autocast_state(device_type == "cuda")
        _torch.autocast_set(device_type == "cuda", state[0], dtype, state[2])
    else:
        _autocast_elsewhere[device_type] = (is_autocast_enabled(device_type), dtype)


def is_autocast_cache_enabled():
    return _torch.autocast_state(False)[2]


def set_autocast_cache_enabled(enabled):
    state = _torch.autocast_state(False)
    _torch.autocast_set(False, state[0], state[1], enabled)


def is_autocast_cpu_enabled():
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype():
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype():
    return get_autocast_dtype("cuda")


def clear_autocast_cache():
    _torch.autocast_forget()


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        # What is switched on only maybe is not, as with CUDA on a machine without.
        if _support.is_unknown(device_type):
            _support.unknown("torch.autocast")
            device_type, enabled = "cuda", False
        if not isinstance(device_type, str):
            raise ValueError("Expected `device_type` of type `str`, got: `" + repr(type(device_type)) + "`")
        if device_type != "cuda" and (_support.is_unknown(dtype) or _support.is_unknown(enabled)):
            _support.unknown("torch.autocast")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None or _support.is_unknown(dtype) else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = self._granted(False if _support.is_unknown(enabled) else enabled)

    def _granted(self, enabled):
        import warnings
        if enabled and self.device == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3)
            return False
        if enabled and self.fast_dtype not in (bfloat16, float16):
            name = self.device.upper()
            warnings.warn("In " + name + " autocast, but the target dtype is not supported. Disabling autocast.\n" + name
                          + " Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.", stacklevel=3)
            return False
        return enabled

    def __enter__(self):
        self.prev = is_autocast_enabled(self.device)
        self.prev_fastdtype = get_autocast_dtype(self.device)
        if _autocast_here(self.device):
            self.prev_cache_enabled = _torch.autocast_enter(self.device == "cuda", self._enabled, self.fast_dtype,
                                                            self._cache_enabled)[2]
        else:
            state = _torch.autocast_state(False)
            self.prev_cache_enabled = _torch.autocast_enter(False, state[0], state[1], self._cache_enabled)[2]
            _autocast_elsewhere[self.device] = (self._enabled, self.fast_dtype)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if _autocast_here(self.device):
            _torch.autocast_exit(self.device == "cuda", self.prev, self.prev_fastdtype, self.prev_cache_enabled)
        else:
            state = _torch.autocast_state(False)
            _torch.autocast_exit(False, state[0], state[1], self.prev_cache_enabled)
            _autocast_elsewhere[self.device] = (self.prev, self.prev_fastdtype)
        return False

    def __call__(self, func):
        if not callable(func):
            raise TypeError("autocast()(func) requires a callable, but got " + type(func).__name__
                            + ". Did you mean to use autocast as a context manager? For example:\n"
                              "    with torch.autocast(device_type=...):\n        output = model(input)")

        def decorate_autocast(*args, **kwargs):
            with self:
                return func(*args, **kwargs)
        return _named_as(decorate_autocast, func)


def vmap(func, *args, **kwargs):
    import torch.func
    return torch.func.vmap(func, *args, **kwargs)


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


def fill_diagonal_(input, fill_value, wrap=False):
    input.diagonal().fill_(fill_value)
    return input


def quantile(input, q, dim=None, keepdim=False, interpolation="linear"):
    several = isinstance(q, Tensor) and q.dim() == 1
    if not isinstance(q, Tensor):
        q = tensor(q, dtype=input.dtype)
    x = input.flatten() if dim is None else input
    at = 0 if dim is None else dim
    ordered = x.transpose(at, -1).sort(dim=-1).values
    n = ordered.size(-1)
    ranks = q.reshape(-1) * (n - 1)
    low = ranks.floor() if interpolation != "nearest" else ranks.round()
    high = low if interpolation in ("lower", "nearest") else ranks.ceil()
    below, above = ordered[..., low.long()], ordered[..., high.long()]
    if interpolation == "linear":
        found = lerp(below, above, (ranks - low).expand_as(below))
    else:
        found = (below + above) / 2 if interpolation == "midpoint" else above
    found = found.movedim(-1, 0)
    if dim is not None:
        found = found.unsqueeze(-1).transpose(-1, at if at < 0 else at + 1)
        found = found if keepdim else found.squeeze(at if at < 0 else at + 1)
    elif keepdim:
        found = found.reshape(found.size(0), *[1] * input.dim())
    return found if several else found[0]


def cov(input, *, correction=1, fweights=None, aweights=None):
    if fweights is not None or aweights is not None:
        return _support.unknown("torch.cov()")
    x = input if input.dim() > 1 else input.unsqueeze(0)
    n = x.size(1)
    x = x - x.mean(1, keepdim=True)
    return (x @ x.t()).div(max(n - correction, 0)).squeeze()


def corrcoef(input):
    c = cov(input)
    if c.dim() == 0:
        return c / c
    d = c.diag().sqrt()
    return (c / d.unsqueeze(1) / d.unsqueeze(0)).clip(-1, 1)


def where(condition, input=None, other=None):
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    return _torch.op("torch.where", (condition, input, other))


def flipud(input):
    return input.flip(0)


def fliplr(input):
    return input.flip(1)


def ravel(input):
    return input.contiguous().view(-1)


def msort(input):
    return sort(input, 0)[0]


def deg2rad(input):
    return input * 0.017453292519943295


def rad2deg(input):
    return input * 57.29577951308232


def column_stack(tensors):
    return cat([t.reshape(t.numel(), 1) if t.dim() <= 1 else t for t in tensors], 1)


def tensor_split(input, indices_or_sections, dim=0):
    size = input.size(dim)
    if isinstance(indices_or_sections, _builtins.int):
        n = indices_or_sections
        ends = [(i + 1) * (size // n) + min(i + 1, size % n) for i in range(n)]
    else:
        ends = [i if i >= 0 else i + size for i in indices_or_sections] + [size]
    starts = [0] + ends[:-1]
    return tuple([input.narrow(dim, start, max(end - start, 0)) for start, end in zip(starts, ends)])


def hsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1)


def vsplit(input, indices_or_sections):
    return tensor_split(input, indices_or_sections, 0)


def matrix_power(input, n):
    if n == 0:
        return eye(input.size(-1), dtype=input.dtype).expand_as(input)
    if n < 0:
        input, n = inverse(input), -n
    if n == 1:
        return input.clone()
    if n == 3:
        return (input @ input) @ input
    z = result = None
    while n > 0:
        z = input if z is None else z @ z
        if n % 2:
            result = z if result is None else result @ z
        n //= 2
    return result


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    right = right or side == "right"
    single = not isinstance(input, Tensor)
    values = tensor(input) if single else input
    rows = sorted_sequence if sorted_sequence.dim() == 1 else sorted_sequence.unsqueeze(-2)
    below = rows <= values.unsqueeze(-1) if right else rows < values.unsqueeze(-1)
    return below.sum(-1)


def bucketize(input, boundaries, *, out_int32=False, right=False):
    return searchsorted(boundaries, input, right=right)


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    if not isinstance(test_elements, Tensor):
        test_elements = tensor([test_elements])
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    return ~found if invert else found


def tril_indices(row, col, offset=0, **options):
    return stack(ones(row, col).tril(offset).nonzero(as_tuple=True))


def triu_indices(row, col, offset=0, **options):
    return stack(ones(row, col).triu(offset).nonzero(as_tuple=True))


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    flat = input.reshape(-1)
    starts = cat([ones(1, dtype=bool), flat[1:] != flat[:-1]])
    values = flat[starts]
    found = (values,)
    inverse = starts.cumsum(0) - 1
    if return_inverse:
        found += (inverse.view(input.shape),)
    if return_counts:
        found += (bincount(inverse),)
    return found if len(found) > 1 else values
