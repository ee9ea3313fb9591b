def _seed_text(a):
    import hashlib
    data = a.encode() if isinstance(a, str) else a
    seed(int.from_bytes(data + hashlib.sha512(data).digest(), "big"))


def _many_bits(k):
    number = place = 0
    while k > 0:
        number |= getrandbits(min(k, 32)) << place
        place += 32
        k -= 32
    return number


def _wide(a, b):
    width = b - a + 1
    if width <= 0:
        raise ValueError("empty range for randrange() (%d, %d, %d)" % (a, b + 1, width))
    bits = width.bit_length()
    found = getrandbits(bits)
    while found >= width:
        found = getrandbits(bits)
    return a + found


def randbytes(n):
    return getrandbits(n * 8).to_bytes(n, "little")


def triangular(low=0.0, high=1.0, mode=None):
    import math as _math
    u = random()
    try:
        c = 0.5 if mode is None else (mode - low) / (high - low)
    except ZeroDivisionError:
        return low
    if u > c:
        u = 1.0 - u
        c = 1.0 - c
        low, high = high, low
    return low + (high - low) * _math.sqrt(u * c)


def lognormvariate(mu=0.0, sigma=1.0):
    import math as _math
    return _math.exp(normalvariate(mu, sigma))


def paretovariate(alpha):
    return (1.0 - random()) ** (-1.0 / alpha)


def weibullvariate(alpha, beta):
    import math as _math
    return alpha * (-_math.log(1.0 - random())) ** (1.0 / beta)


def _gamma_large(alpha, beta):
    import math as _math
    width = _math.sqrt(2.0 * alpha - 1.0)
    shift = alpha - _math.log(4.0)
    factor = alpha + width
    while True:
        u1 = random()
        if not 1e-7 < u1 < 0.9999999:
            continue
        u2 = 1.0 - random()
        v = _math.log(u1 / (1.0 - u1)) / width
        x = alpha * _math.exp(v)
        z = u1 * u1 * u2
        r = shift + factor * v - x
        if r + 1.0 + _math.log(4.5) - 4.5 * z >= 0.0 or r >= _math.log(z):
            return x * beta


def gammavariate(alpha, beta):
    import math as _math
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    if alpha > 1.0:
        return _gamma_large(alpha, beta)
    if alpha == 1.0:
        return -_math.log(1.0 - random()) * beta
    while True:
        b = (_math.e + alpha) / _math.e
        p = b * random()
        x = p ** (1.0 / alpha) if p <= 1.0 else -_math.log((b - p) / alpha)
        u = random()
        if p > 1.0:
            if u <= x ** (alpha - 1.0):
                break
        elif u <= _math.exp(-x):
            break
    return x * beta


def betavariate(alpha, beta):
    y = gammavariate(alpha, 1.0)
    return y / (y + gammavariate(beta, 1.0)) if y else 0.0


def vonmisesvariate(mu, kappa):
    import math as _math
    if kappa <= 1e-6:
        return 2.0 * _math.pi * random()
    s = 0.5 / kappa
    r = s + _math.sqrt(1.0 + s * s)
    while True:
        z = _math.cos(_math.pi * random())
        d = z / (r + z)
        u = random()
        if u < 1.0 - d * d or u <= (1.0 - d) * _math.exp(d):
            break
    q = 1.0 / r
    f = (q + z) / (1.0 + q * z)
    turn = _math.acos(f) if random() > 0.5 else -_math.acos(f)
    return (mu + turn) % (2.0 * _math.pi)


def _method(name):
    def method(self, *args, **kwargs):
        return _on(self._state, globals()[name] if name in globals() else getattr(_module(), name), args, kwargs)
    method.__name__ = name
    return method


def _module():
    import random
    return random


class Random:
    def __init__(self, x=None):
        self._state = _stream()
        self.seed(x)

    seed = _method("seed")
    random = _method("random")
    getrandbits = _method("getrandbits")
    getstate = _method("getstate")
    setstate = _method("setstate")
    randint = _method("randint")
    randrange = _method("randrange")
    randbytes = _method("randbytes")
    uniform = _method("uniform")
    gauss = _method("gauss")
    normalvariate = _method("normalvariate")
    lognormvariate = _method("lognormvariate")
    expovariate = _method("expovariate")
    betavariate = _method("betavariate")
    gammavariate = _method("gammavariate")
    paretovariate = _method("paretovariate")
    weibullvariate = _method("weibullvariate")
    vonmisesvariate = _method("vonmisesvariate")
    triangular = _method("triangular")
    choice = _method("choice")
    choices = _method("choices")
    sample = _method("sample")
    shuffle = _method("shuffle")


class SystemRandom(Random):
    pass
