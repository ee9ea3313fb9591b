import builtins
import itertools
import math
import _numpy
import numpy
import torch


def _number(value, dtype):
    return numpy.array(value).astype(dtype) if hasattr(value, "shape") else numpy.array(value, dtype=dtype).item()


def _rounded(x, decimals=0):
    return type(x)(builtins.round(x, decimals))


def _all(values):
    return [numpy.array(v) if isinstance(v, (list, tuple)) else v for v in values]


def _op(name, *args, **kw):
    return _numpy.call(name, *_all(args), **kw)


def _typed(array, dtype):
    return array if dtype is None else array.astype(dtype)


def zeros(shape, dtype=None):
    return _typed(_numpy.call("torch.zeros", shape), dtype)


def ones(shape, dtype=None):
    return _typed(_numpy.call("torch.ones", shape), dtype)


def empty(shape, dtype=None):
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None):
    return _typed(_numpy.call("torch.full", (shape,) if isinstance(shape, int) else shape, fill_value), dtype)


def zeros_like(a, dtype=None):
    return _typed(_op("torch.zeros_like", a), dtype)


def ones_like(a, dtype=None):
    return _typed(_op("torch.ones_like", a), dtype)


def full_like(a, fill_value, dtype=None):
    return _typed(_op("torch.full_like", a, fill_value), dtype)


def arange(*args, dtype=None):
    return _typed(_numpy.call("torch.arange", *args), dtype)


def linspace(start, stop, num=50, endpoint=True):
    if not endpoint:
        return arange(num) * ((stop - start) / num) + start
    return arange(num) * ((stop - start) / (num - 1)) + start


def eye(n, dtype=None):
    return _typed(_numpy.call("torch.eye", n), dtype)


identity = eye


# Slices that step back: the same elements ahead, then turned.
def _backwards(a, index):
    index = index if isinstance(index, tuple) else (index,)
    skipped = a.ndim - builtins.sum([part is not None and part is not Ellipsis for part in index])
    ahead, turned, at, dim = [], [], 0, 0
    for part in index:
        if isinstance(part, slice) and part.step is not None and part.step < 0:
            order = builtins.range(a.shape[at])[part]
            part = slice(order[-1], order[0] + 1, -part.step) if len(order) else slice(0, 0)
            turned.append(dim)
        ahead.append(part)
        at += skipped if part is Ellipsis else part is not None
        dim += skipped if part is Ellipsis else part is None or isinstance(part, slice)
    return flip(a[tuple(ahead)], turned)


# A function of tensors, of arrays.
def _through(function, *args, **kw):
    args = [torch.from_numpy(numpy.array(a)) if hasattr(a, "__len__") else a for a in args]
    result = function(*args, **kw)
    return result.numpy() if result.dim() else result.item()


def _axis(a, axis):
    a = numpy.array(a)
    return (a.reshape(-1), 0) if axis is None else (a, axis)


def cumsum(a, axis=None):
    return _numpy.call("torch.cumsum", *_axis(a, axis))


def cumprod(a, axis=None):
    return _numpy.call("torch.cumprod", *_axis(a, axis))


def sort(a, axis=-1):
    return numpy.array(a)[...] if axis is None else _numpy.call("Tensor.sort", numpy.array(a), axis)[0]


def argsort(a, axis=-1):
    return _numpy.call("torch.argsort", numpy.array(a), axis, stable=True)


def where(condition, x=None, y=None):
    if x is None:
        found = _op("torch.nonzero", condition)
        return tuple(found[:, i] for i in range(found.shape[1]))
    return _numpy.call("torch.where", condition, *_all([x, y]))


def clip(a, a_min, a_max):
    return _one("torch.clamp", a, a_min, a_max)


def _pair(name, a, b):
    if not hasattr(a, "shape"):
        a = numpy.array(a)
    if not hasattr(b, "shape"):
        b = numpy.array(b)
    return _numpy.call(name, a, b)


def maximum(a, b):
    return _pair("torch.maximum", a, b)


def minimum(a, b):
    return _pair("torch.minimum", a, b)


def dot(a, b):
    return _pair("torch.matmul", a, b)


matmul = dot


def outer(a, b):
    return _pair("torch.outer", a, b)


def power(a, b):
    return numpy.array(a) ** b


def searchsorted(a, v, side="left"):
    a, at = numpy.array(a), v if hasattr(v, "shape") else numpy.array([v])
    below = a <= at.reshape(-1, 1) if side == "right" else a < at.reshape(-1, 1)
    return below.sum(1).reshape(at.shape) if at is v else below.sum(1)[0]


def mean(a, axis=None, dtype=None, keepdims=False):
    a = numpy.array(a)
    a = a if a.dtype.is_floating_point else a.astype(numpy.float64)
    return _numpy.call("Tensor.mean", a) if axis is None else _numpy.call("Tensor.mean", a, axis, keepdim=keepdims)


def amax(a, axis=None, keepdims=False):
    a = numpy.array(a)
    return _numpy.call("Tensor.amax", a) if axis is None else _numpy.call("Tensor.amax", a, axis, keepdim=keepdims)


def amin(a, axis=None, keepdims=False):
    a = numpy.array(a)
    return _numpy.call("Tensor.amin", a) if axis is None else _numpy.call("Tensor.amin", a, axis, keepdim=keepdims)


def average(a, axis=None, weights=None):
    if weights is None:
        return mean(a, axis)
    a, weights = numpy.array(a), numpy.array(weights)
    return (a * weights).sum() / weights.sum() if axis is None else (a * weights).sum(axis) / weights.sum()


def max(a, axis=None, keepdims=False):
    return amax(a, axis, keepdims)


def min(a, axis=None, keepdims=False):
    return amin(a, axis, keepdims)


def around(a, decimals=0):
    return _one("Tensor.round", a, decimals=decimals)


def round(a, decimals=0):
    return around(a, decimals)


def ravel(a):
    return numpy.array(a).reshape(-1)


def var(a, axis=None, ddof=0, keepdims=False):
    a = numpy.array(a)
    centered = a - (mean(a) if axis is None else mean(a, axis, keepdims=True))
    count = a.size if axis is None else a.shape[axis]
    square = centered * centered
    return (square.sum() if axis is None else square.sum(axis, keepdims=keepdims)) / (count - ddof)


def std(a, axis=None, ddof=0, keepdims=False):
    return numpy.sqrt(var(a, axis, ddof, keepdims))


def median(a):
    flat = sorted(numpy.array(a).reshape(-1).tolist())
    half = len(flat) // 2
    return float(flat[half]) if len(flat) % 2 else (flat[half - 1] + flat[half]) / 2


def percentile(a, q):
    return quantile(a, q / 100)


def quantile(a, q):
    flat = sorted(numpy.array(a).reshape(-1).tolist())
    at = q * (len(flat) - 1)
    low = int(at)
    high = low + (low + 1 < len(flat))
    return flat[low] + (flat[high] - flat[low]) * (at - low)


def unique(a, return_counts=False):
    flat = sorted(set(numpy.array(a).reshape(-1).tolist()))
    if not return_counts:
        return numpy.array(flat)
    every = numpy.array(a).reshape(-1).tolist()
    return numpy.array(flat), numpy.array([every.count(v) for v in flat])


def bincount(a, weights=None, minlength=0):
    return _op("torch.bincount", a, weights, minlength)


def any(a, *axis, **kw):
    return _op("Tensor.any", a, *axis, **kw)


def all(a, *axis, **kw):
    return _op("Tensor.all", a, *axis, **kw)


def isfinite(a):
    return _one("torch.isfinite", a)


class finfo:
    def __init__(self, dtype=float):
        dtype = numpy.float64 if dtype is float else dtype
        limits = torch.finfo({numpy.float16: torch.float16, numpy.float32: torch.float32}.get(dtype, torch.float64))
        self.dtype, self.bits = dtype, limits.bits
        self.eps, self.max, self.min = limits.eps, limits.max, limits.min
        self.tiny = self.smallest_normal = limits.tiny
        self.resolution = limits.resolution


class iinfo:
    def __init__(self, dtype=int):
        dtype = numpy.int64 if dtype is int else dtype
        self.dtype, self.bits = dtype, dtype.itemsize * 8
        unsigned = dtype == numpy.uint8
        self.min = 0 if unsigned else -2 ** (self.bits - 1)
        self.max = 2 ** self.bits - 1 if unsigned else 2 ** (self.bits - 1) - 1


def _sorted_set(values):
    return sorted(set(numpy.array(values).reshape(-1).tolist()))


def setdiff1d(a, b, assume_unique=False):
    without = set(numpy.array(b).reshape(-1).tolist())
    a = numpy.array(a)
    return numpy.array([v for v in _sorted_set(a) if v not in without], dtype=a.dtype)


def intersect1d(a, b, assume_unique=False):
    both = set(numpy.array(b).reshape(-1).tolist())
    a = numpy.array(a)
    return numpy.array([v for v in _sorted_set(a) if v in both], dtype=a.dtype)


def union1d(a, b):
    return unique(concatenate([ravel(a), ravel(b)]))


def isin(element, test_elements, invert=False):
    return _through(torch.isin, numpy.array(element), numpy.array(test_elements), invert=invert)


in1d = isin


def logspace(start, stop, num=50, base=10.0):
    return base ** linspace(start, stop, num)


def geomspace(start, stop, num=50):
    return exp(linspace(math.log(start), math.log(stop), num))


def diag(v, k=0):
    return _op("torch.diag", v, k)


def trace(a):
    return _op("torch.trace", a)


def tril(m, k=0):
    return _op("torch.tril", m, k)


def triu(m, k=0):
    return _op("torch.triu", m, k)


def meshgrid(*xi, indexing="xy"):
    return tuple(_numpy.call("torch.meshgrid", *_all(xi), indexing=indexing))


def nonzero(a):
    return where(numpy.array(a) != 0)


def argwhere(a):
    return _op("torch.nonzero", a)


def count_nonzero(a, axis=None):
    return (numpy.array(a) != 0).sum() if axis is None else (numpy.array(a) != 0).sum(axis)


def einsum(subscripts, *operands):
    return _numpy.call("torch.einsum", subscripts, *_all(operands))


def histogram(a, bins=10, range=None):
    values = numpy.array(a).reshape(-1).astype(numpy.float64)
    if isinstance(bins, int):
        low, high = (values.min(), values.max()) if range is None else range
        edges = linspace(low, high, bins + 1) if low != high else linspace(low - 0.5, high + 0.5, bins + 1)
    else:
        edges = numpy.array(bins)
    at = edges.tolist()
    counts = [0] * (len(at) - 1)
    for value in values.tolist():
        for i in builtins.range(len(counts)):
            if at[i] <= value < at[i + 1] or value == at[-1] and i == len(counts) - 1:
                counts[i] += 1
    return numpy.array(counts), edges


def roll(a, shift, axis=None):
    return _numpy.call("torch.roll", numpy.array(a), shift, *(() if axis is None else (axis,)))


def flip(m, axis=None):
    m = numpy.array(m)
    dims = list(builtins.range(m.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    return _numpy.call("torch.flip", m, dims)


def flipud(m):
    return flip(m, 0)


def fliplr(m):
    return flip(m, 1)


def pad(array, pad_width, mode="constant", constant_values=0):
    array = numpy.array(array)
    if isinstance(pad_width, int):
        pad_width = [(pad_width, pad_width)] * array.ndim
    elif isinstance(pad_width[0], int):
        pad_width = [tuple(pad_width)] * array.ndim
    widths = [w for pair in reversed(pad_width) for w in pair]
    return _numpy.call("torch.nn.functional.pad", array, widths, "constant", constant_values)


def hypot(a, b):
    return numpy.sqrt(numpy.array(a) ** 2 + numpy.array(b) ** 2)


def arctan2(a, b):
    return _pair("torch.atan2", a, b)


def mod(a, b):
    return numpy.array(a) % b


def floor_divide(a, b):
    return numpy.array(a) // b


def add(a, b):
    return numpy.array(a) + b


def subtract(a, b):
    return numpy.array(a) - b


def multiply(a, b):
    return numpy.array(a) * b


def divide(a, b):
    return numpy.array(a) / b


def logical_and(a, b):
    return _pair("torch.logical_and", a, b)


def logical_or(a, b):
    return _pair("torch.logical_or", a, b)


def logical_not(a):
    return _one("torch.logical_not", a)


def swapaxes(a, axis1, axis2):
    return _op("torch.transpose", a, axis1, axis2)


def moveaxis(a, source, destination):
    return _numpy.call("torch.movedim", numpy.array(a), source, destination)


def atleast_1d(a):
    return numpy.array(a).reshape(-1) if not hasattr(a, "shape") else a


def atleast_2d(a):
    return _through(torch.atleast_2d, a)


def ravel_multi_index(multi_index, dims):
    flat = 0
    for index, size in zip(multi_index, dims):
        flat = flat * size + index
    return flat


def unravel_index(indices, shape):
    parts = []
    for size in reversed(shape):
        parts.append(indices % size)
        indices = indices // size
    return tuple(reversed(parts))


def ndindex(*shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return itertools.product(*[builtins.range(n) for n in shape])


def ndenumerate(a):
    a = numpy.array(a)
    return zip(ndindex(*a.shape), a.reshape(-1).tolist())


def nanmean(a, axis=None):
    return _through(torch.nanmean, a) if axis is None else _through(torch.nanmean, a, axis)


def ptp(a):
    return amax(a) - amin(a)


def cov(m):
    return _through(torch.cov, m)


def corrcoef(x, y=None):
    return _through(torch.corrcoef, x if y is None else stack([x, y]))


def interp(x, xp, fp):
    xp, fp = numpy.array(xp).tolist(), numpy.array(fp).tolist()

    def at(value):
        for i in builtins.range(len(xp) - 1):
            if value <= xp[i + 1]:
                share = builtins.max(0.0, (value - xp[i]) / (xp[i + 1] - xp[i]))
                return fp[i] + share * (fp[i + 1] - fp[i])
        return fp[-1]
    return numpy.array([at(v) for v in x]) if hasattr(x, "__len__") else at(x)


def convolve(a, v, mode="full"):
    a, v = numpy.array(a).tolist(), numpy.array(v).tolist()
    full = [builtins.sum([a[i] * v[k - i] for i in builtins.range(len(a)) if 0 <= k - i < len(v)])
            for k in builtins.range(len(a) + len(v) - 1)]
    longer, shorter = builtins.max(len(a), len(v)), builtins.min(len(a), len(v))
    start, count = {"full": (0, len(full)), "same": ((shorter - 1) // 2, longer),
                    "valid": (shorter - 1, longer - shorter + 1)}[mode]
    return numpy.array(full[start:start + count])


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    arr = numpy.array(arr)
    rows = arr if axis in (-1, 1) else arr.T
    return numpy.array([func1d(row, *args, **kwargs) for row in rows])


def vectorize(pyfunc):
    def wrapper(a):
        a = numpy.array(a)
        return numpy.array([pyfunc(v) for v in a.reshape(-1).tolist()]).reshape(*a.shape)
    return wrapper


def array2string(a, precision=None, **kw):
    return str(a if precision is None else around(a, precision))


def isscalar(element):
    return isinstance(element, (int, float, complex, str, bytes))


def _one(name, a, *args, **kw):
    return _numpy.call(name, a if hasattr(a, "shape") else numpy.array(a), *args, **kw)


def log1p(a):
    return _one("torch.log1p", a)


def expand_dims(a, axis):
    return _numpy.call("Tensor.unsqueeze", numpy.asarray(a), axis)


def squeeze(a, axis=None):
    return _numpy.call("Tensor.squeeze", numpy.asarray(a), *(() if axis is None else (axis,)))


def reshape(a, *shape):
    return _numpy.call("Tensor.reshape", numpy.array(a), *shape)


def broadcast_to(a, shape):
    return _numpy.call("torch.broadcast_to", numpy.asarray(a), shape)


def transpose(a, *axes):
    a = numpy.asarray(a)
    return _numpy.call("Tensor.permute", a, *axes) if axes and axes[0] is not None else a.T


def vstack(arrays):
    return _numpy.call("torch.vstack", _all(arrays))


def hstack(arrays):
    return _numpy.call("torch.hstack", _all(arrays))


def column_stack(arrays):
    return _numpy.call("torch.column_stack", _all(arrays))


def tile(a, reps):
    return _numpy.call("torch.tile", numpy.array(a), (reps,) if isinstance(reps, int) else reps)


def repeat(a, repeats, axis=None):
    return _numpy.call("torch.repeat_interleave", *_axis(a, axis)[:1], repeats, _axis(a, axis)[1])


def array_split(a, parts):
    a = numpy.array(a)
    size, longer = divmod(len(a), parts)
    at, out = 0, []
    for i in range(parts):
        out.append(a[at:at + size + (i < longer)])
        at += size + (i < longer)
    return out


split = array_split


def diff(a):
    a = numpy.array(a)
    return a[1:] - a[:-1]


def allclose(a, b, rtol=1e-05, atol=1e-08):
    a, b = numpy.array(a), numpy.array(b)
    difference = numpy.abs(a - b) <= atol + rtol * numpy.abs(b)
    return difference if isinstance(difference, bool) else difference.all()


def array_equal(a, b):
    a, b = numpy.array(a), numpy.array(b)
    return a.shape == b.shape and (a == b).all()


def polyfit(x, y, deg):
    x, y = numpy.array(x, dtype=numpy.float64), numpy.array(y, dtype=numpy.float64)
    powers = column_stack([x ** (deg - i) for i in range(deg + 1)])
    return _numpy.call("torch.linalg.solve", dot(powers.T, powers), dot(powers.T, y))
