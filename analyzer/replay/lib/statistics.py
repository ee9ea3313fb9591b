import math as _math


class StatisticsError(ValueError):
    pass


def _exact(data, name, least=1):
    """The numbers, and their sum as a fraction of integers."""
    data = list(data)
    if len(data) < least:
        raise StatisticsError("%s requires at least %s" % (
            name, "one data point" if least == 1 else "two data points"))
    top, bottom = 0, 1
    for x in data:
        a, b = x.as_integer_ratio()
        top, bottom = top * b + a * bottom, bottom * b
        common = _math.gcd(top, bottom)
        top, bottom = top // common, bottom // common
    return data, top, bottom


def _as(data, top, bottom):
    if not any([isinstance(x, float) for x in data]) and top % bottom == 0:
        return top // bottom
    return top / bottom


def mean(data):
    data, top, bottom = _exact(data, "mean")
    return _as(data, top, bottom * len(data))


def fmean(data, weights=None):
    data = list(data)
    if not data:
        raise StatisticsError("fmean requires at least one data point")
    if weights is None:
        return _math.fsum(data) / len(data)
    weights = list(weights)
    return _math.fsum([x * w for x, w in zip(data, weights)]) / _math.fsum(weights)


def geometric_mean(data):
    return _math.exp(fmean([_math.log(x) for x in data]))


def harmonic_mean(data, weights=None):
    data = list(data)
    return len(data) / sum([1 / x for x in data])


def _middle(data):
    data = sorted(data)
    if not data:
        raise StatisticsError("no median for empty data")
    return data, len(data)


def median(data):
    data, n = _middle(data)
    return data[n // 2] if n % 2 else (data[n // 2 - 1] + data[n // 2]) / 2


def median_low(data):
    data, n = _middle(data)
    return data[(n - 1) // 2]


def median_high(data):
    data, n = _middle(data)
    return data[n // 2]


def _counts(data):
    counts = {}
    for x in data:
        counts[x] = counts.get(x, 0) + 1
    return counts


def mode(data):
    counts = _counts(data)
    if not counts:
        raise StatisticsError("no mode for empty data")
    return max(counts, key=counts.get)


def multimode(data):
    counts = _counts(data)
    most = max(counts.values(), default=0)
    return [x for x, count in counts.items() if count == most]


def _squares(data, name, least):
    """The sum of the squared distances from the mean, as a fraction of integers."""
    data, top, bottom = _exact(data, name, least)
    n = len(data)
    sum_top, sum_bottom = 0, 1
    for x in data:
        a, b = x.as_integer_ratio()
        over, under = a * bottom * n - top * b, b * bottom * n
        sum_top, sum_bottom = sum_top * under * under + over * over * sum_bottom, sum_bottom * under * under
        common = _math.gcd(sum_top, sum_bottom)
        sum_top, sum_bottom = sum_top // common, sum_bottom // common
    return data, sum_top, sum_bottom


def pvariance(data, mu=None):
    data, top, bottom = _squares(data, "pvariance", 1)
    return _as(data, top, bottom * len(data))


def variance(data, xbar=None):
    data, top, bottom = _squares(data, "variance", 2)
    return _as(data, top, bottom * (len(data) - 1))


def _root_of_ratio(n, m):
    if n == 0:
        return 0.0
    q = (n.bit_length() - m.bit_length() - 109) // 2
    if q >= 0:
        m <<= 2 * q
    else:
        n <<= -2 * q
    root = _math.isqrt(n // m)
    root |= root * root * m != n
    return (root << q) / 1 if q >= 0 else root / (1 << -q)


def stdev(data, xbar=None):
    data, top, bottom = _squares(data, "stdev", 2)
    return _root_of_ratio(top, bottom * (len(data) - 1))


def pstdev(data, mu=None):
    data, top, bottom = _squares(data, "pstdev", 1)
    return _root_of_ratio(top, bottom * len(data))


def quantiles(data, *, n=4, method="exclusive"):
    data = sorted(data)
    size = len(data)
    out = []
    for i in range(1, n):
        if method == "inclusive":
            at, rest = divmod(i * (size - 1), n)
            out.append((data[at] * (n - rest) + data[at + 1] * rest) / n)
        else:
            at = min(max(i * (size + 1) // n, 1), size - 1)
            rest = i * (size + 1) - at * n
            out.append((data[at - 1] * (n - rest) + data[at] * rest) / n)
    return out


def _covariance(x, y):
    x, y = list(x), list(y)
    a, b = fmean(x), fmean(y)
    return _math.fsum([(p - a) * (q - b) for p, q in zip(x, y)]), x, y, a, b


def covariance(x, y):
    total, x, _, _, _ = _covariance(x, y)
    return total / (len(x) - 1)


def correlation(x, y):
    total, x, y, a, b = _covariance(x, y)
    return total / _math.sqrt(_math.fsum([(p - a) ** 2 for p in x]) * _math.fsum([(q - b) ** 2 for q in y]))


def linear_regression(x, y):
    from collections import namedtuple
    total, x, _, a, b = _covariance(x, y)
    slope = total / _math.fsum([(p - a) ** 2 for p in x])
    return namedtuple("LinearRegression", "slope intercept")(slope, b - slope * a)
