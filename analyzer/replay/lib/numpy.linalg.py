import _numpy
import numpy


class LinAlgError(ValueError):
    pass


def _floats(a):
    a = numpy.asarray(a)
    return a if a.dtype.is_floating_point else a.astype(numpy.float64)


def norm(x, ord=None, axis=None, keepdims=False):
    x = _floats(x)
    if isinstance(axis, int) or axis is None and (ord is None or x.ndim == 1):
        ord = 2 if ord is None or ord == "fro" else ord
        return _numpy.call("torch.linalg.vector_norm", x, ord, axis, keepdims)
    ord = "fro" if ord is None else ord
    return _numpy.call("torch.linalg.matrix_norm", x, ord, (-2, -1) if axis is None else axis, keepdims)


def inv(a):
    return _numpy.call("torch.linalg.inv", _floats(a))


def pinv(a):
    return _numpy.call("torch.linalg.pinv", _floats(a))


def det(a):
    return _numpy.call("torch.linalg.det", _floats(a))


def solve(a, b):
    return _numpy.call("torch.linalg.solve", _floats(a), _floats(b))


def cholesky(a):
    return _numpy.call("torch.linalg.cholesky", _floats(a))


def matrix_power(a, n):
    return _numpy.call("torch.linalg.matrix_power", numpy.asarray(a), n)
