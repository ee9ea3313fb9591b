import _numpy
import numpy


def _number(value, dtype):
    return numpy.array(value).astype(dtype) if hasattr(value, "shape") else numpy.array(value, dtype=dtype).item()


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


def _axis(a, axis):
    a = numpy.array(a)
    return (a.reshape(-1), 0) if axis is None else (a, axis)


def cumsum(a, axis=None):
    return _numpy.call("torch.cumsum", *_axis(a, axis))


def cumprod(a, axis=None):
    return _numpy.call("torch.cumprod", *_axis(a, axis))


def sort(a, axis=-1):
    return numpy.array(a)[...] if axis is None else _numpy.call("Tensor.sort", numpy.array(a), axis)[0].numpy()


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
    return flat[half] if len(flat) % 2 else (flat[half - 1] + flat[half]) / 2


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


def _one(name, a, *args, **kw):
    return _numpy.call(name, a if hasattr(a, "shape") else numpy.array(a), *args, **kw)


def log1p(a):
    return _one("torch.log1p", a)


def expand_dims(a, axis):
    return _numpy.call("Tensor.unsqueeze", a, axis)


def squeeze(a):
    return _numpy.call("Tensor.squeeze", a)


def reshape(a, *shape):
    return _numpy.call("Tensor.reshape", numpy.array(a), *shape)


def broadcast_to(a, shape):
    return _numpy.call("torch.broadcast_to", a, shape)


def transpose(a, *axes):
    return _numpy.call("Tensor.permute", a, *axes) if axes else a.T


def vstack(arrays):
    return _numpy.call("torch.vstack", _all(arrays))


def hstack(arrays):
    return _numpy.call("torch.hstack", _all(arrays))


def column_stack(arrays):
    return _numpy.call("torch.column_stack", _all(arrays))


def tile(a, reps):
    return _op("torch.tile", a, (reps,) if isinstance(reps, int) else reps)


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
