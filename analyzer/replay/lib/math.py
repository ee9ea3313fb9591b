def lcm(*values):
    result = 1
    for value in values:
        result = abs(result * value) // gcd(result, value) if value else 0
    return result


def modf(x):
    whole = copysign(float(trunc(x)), x)
    return (copysign(x - whole, x), whole)


def dist(p, q):
    return sqrt(fsum((a - b) ** 2 for a, b in zip(p, q)))


def perm(n, k=None):
    k = n if k is None else k
    return prod(range(n - k + 1, n + 1)) if k <= n else 0


def ldexp(x, i):
    return x * 2.0 ** i


def remainder(x, y):
    rest = fmod(x, y)
    if 2 * fabs(rest) > fabs(y) or (2 * fabs(rest) == fabs(y) and (x - rest) / y % 2):
        rest -= copysign(y, rest)
    return rest


def _isqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = 1 << n.bit_length() + 1 >> 1
    while True:
        better = root + n // root >> 1
        if better >= root:
            return root
        root = better


def sumprod(p, q):
    return sum([a * b for a, b in zip(p, q)])
