import _numpy_random
import numpy


class _Random:
    """What the functions of the module, RandomState and Generator have in common."""

    def _draw(self, name, size, *parameters):
        shapes = [p.shape for p in parameters if hasattr(p, "shape") and len(p.shape)]
        if not shapes:
            return _numpy_random.draw(self._stream, name, size, *parameters)
        return self._draw_each(name, shapes[0] if size is None else size, parameters)

    def _draw_each(self, name, shape, parameters):
        if name == "normal":
            return parameters[0] + parameters[1] * _numpy_random.draw(self._stream, name, shape)
        if name == "uniform":
            low, high = parameters
            return low + (high - low) * _numpy_random.draw(self._stream, name, shape)
        each = [numpy.broadcast_to(numpy.array(p), shape).reshape(-1).tolist() for p in parameters]
        drawn = [_numpy_random.draw(self._stream, name, None, *p) for p in zip(*each)]
        return numpy.array(drawn).reshape(shape)

    def uniform(self, low=0.0, high=1.0, size=None):
        return self._draw("uniform", size, low, high)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return self._draw("normal", size, loc, scale)

    def standard_normal(self, size=None):
        return self._draw("normal", size)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        return numpy.exp(self._draw("normal", size, mean, sigma))

    def beta(self, a, b, size=None):
        return self._draw("beta", size, a, b)

    def random(self, size=None):
        return self._draw("uniform", size)

    def permutation(self, x):
        if isinstance(x, int):
            return _numpy_random.order(self._stream, x)
        x = numpy.array(x)
        return x[_numpy_random.order(self._stream, len(x))]

    def shuffle(self, x):
        order = _numpy_random.order(self._stream, len(x))
        if isinstance(x, list):
            _numpy_random.arrange(x, order)
        else:
            x[:] = x[order]

    def _pick(self, a, index):
        return index if isinstance(a, int) else numpy.array(a)[index]

    def _weighted(self, p, size):
        sums = numpy.cumsum(numpy.array(p))
        return numpy.searchsorted(sums / sums[-1], self.random(size), side="right")

    def choice(self, a, size=None, replace=True, p=None):
        count = a if isinstance(a, int) else len(a)
        if not replace and size is not None:
            total = numpy.prod(numpy.array(size)) if isinstance(size, tuple) else size
            if total > count:
                raise ValueError("Cannot take a larger sample than population when replace is False")
            index = self._without_replacement(count, int(total), p).reshape(size)
        elif p is not None:
            index = self._weighted(p, size)
        else:
            index = self._integer_below(count, size)
        return self._pick(a, index)

    def _without_replacement(self, count, total, p):
        if p is None:
            return self._sample(count, total)
        left, found = list(p), []
        while len(found) < total:
            for i in found:
                left[i] = 0.0
            for i in self._weighted(left, total - len(found)).tolist():
                if i not in found:
                    found.append(i)
        return numpy.array(found)

    def dirichlet(self, alpha, size=None):
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        drawn = self._draw("gamma", (*shape, len(alpha)), numpy.array(alpha, dtype=numpy.float64))
        return drawn * (1.0 / drawn.sum(-1, keepdims=True))

    def multinomial(self, n, pvals, size=None):
        if size is not None:
            return numpy.array([self.multinomial(n, pvals) for _ in range(size)])
        left, rest, counts = n, 1.0, []
        for p in list(pvals)[:-1]:
            counts.append(int(self._draw("binomial", None, left, p / rest)) if left > 0 else 0)
            left -= counts[-1]
            rest -= p
        return numpy.array([*counts, left])


class RandomState(_Random):
    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        self._stream = _numpy_random.stream(seed, False)

    def rand(self, *shape):
        return self._draw("uniform", shape or None)

    def randn(self, *shape):
        return self._draw("normal", shape or None)

    def random_sample(self, size=None):
        return self._draw("uniform", size)

    def randint(self, low, high=None, size=None, dtype=None):
        if high is None:
            low, high = 0, low
        drawn = _numpy_random.integers(self._stream, low, high, size)
        return drawn if dtype is None or size is None else drawn.astype(dtype)

    def exponential(self, scale=1.0, size=None):
        return self._draw("exponential", size, scale)

    def gamma(self, shape, scale=1.0, size=None):
        return self._draw("gamma", size, shape, scale)

    def binomial(self, n, p, size=None):
        return self._draw("binomial", size, n, p)

    def poisson(self, lam=1.0, size=None):
        return self._draw("poisson", size, lam)

    def _integer_below(self, count, size):
        return self.randint(0, count, size)

    def _sample(self, count, total):
        return self.permutation(count)[:total]

    def get_state(self, legacy=True):
        return ("MT19937", _numpy_random.copy(self._stream))

    def set_state(self, state):
        self._stream = _numpy_random.copy(state[1])


class Generator(_Random):
    def __init__(self, bit_generator=None):
        self._stream = _numpy_random.stream(bit_generator, True)

    def integers(self, low, high=None, size=None, dtype=None, endpoint=False):
        if high is None:
            low, high = 0, low
        drawn = _numpy_random.integers(self._stream, low, high + endpoint, size)
        return drawn if dtype is None or size is None else drawn.astype(dtype)

    def standard_normal(self, size=None, dtype=None):
        drawn = self._draw("normal", size)
        return drawn if dtype is None else drawn.astype(dtype)

    def _integer_below(self, count, size):
        return self.integers(0, count, size)

    def _sample(self, count, total):
        return _numpy_random.order(self._stream, count, total)


def default_rng(seed=None):
    return seed if isinstance(seed, Generator) else Generator(seed)


_state = RandomState()


def __getattr__(name):
    return getattr(_state, name)
