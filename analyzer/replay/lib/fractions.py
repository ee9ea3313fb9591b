import math as _math


class Fraction:
    def __new__(cls, numerator=0, denominator=None):
        self = object.__new__(cls)
        if isinstance(numerator, str):
            numerator, denominator = _parsed(numerator)
        top, bottom = _ratio(numerator)
        if denominator is not None:
            a, b = _ratio(denominator)
            top, bottom = top * b, bottom * a
        if bottom == 0:
            raise ZeroDivisionError("Fraction(%s, 0)" % top)
        common = _math.gcd(top, bottom)
        if bottom < 0:
            common = -common
        self.numerator, self.denominator = top // common, bottom // common
        return self

    @classmethod
    def from_float(cls, f):
        return cls(f)

    def as_integer_ratio(self):
        return (self.numerator, self.denominator)

    def limit_denominator(self, max_denominator=1000000):
        if self.denominator <= max_denominator:
            return self
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self.numerator, self.denominator
        while True:
            a = n // d
            q2 = q0 + a * q1
            if q2 > max_denominator:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
            n, d = d, n - a * d
        k = (max_denominator - q0) // q1
        low, high = Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1)
        return high if abs(high - self) <= abs(low - self) else low

    def __repr__(self):
        return "Fraction(%d, %d)" % (self.numerator, self.denominator)

    def __str__(self):
        return "%d" % self.numerator if self.denominator == 1 else "%d/%d" % (self.numerator, self.denominator)

    def __hash__(self):
        return hash(self.numerator) if self.denominator == 1 else hash(self.numerator / self.denominator)

    def _made(self, other, exact, rough):
        if isinstance(other, float):
            return rough(float(self), other)
        if not isinstance(other, (int, Fraction)):
            return NotImplemented
        return exact(self.numerator, self.denominator, *_ratio(other))

    def __add__(self, other):
        return self._made(other, lambda a, b, c, d: Fraction(a * d + c * b, b * d), lambda x, y: x + y)

    __radd__ = __add__

    def __sub__(self, other):
        return self._made(other, lambda a, b, c, d: Fraction(a * d - c * b, b * d), lambda x, y: x - y)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        return self._made(other, lambda a, b, c, d: Fraction(a * c, b * d), lambda x, y: x * y)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._made(other, lambda a, b, c, d: Fraction(a * d, b * c), lambda x, y: x / y)

    def __rtruediv__(self, other):
        return self._made(other, lambda a, b, c, d: Fraction(c * b, d * a), lambda x, y: y / x)

    def __floordiv__(self, other):
        return self._made(other, lambda a, b, c, d: a * d // (b * c), lambda x, y: x // y)

    def __mod__(self, other):
        return self - self // other * other

    def __pow__(self, other):
        if not isinstance(other, int):
            return float(self) ** float(other)
        if other >= 0:
            return Fraction(self.numerator ** other, self.denominator ** other)
        return Fraction(self.denominator ** -other, self.numerator ** -other)

    def __neg__(self):
        return Fraction(-self.numerator, self.denominator)

    def __pos__(self):
        return self

    def __abs__(self):
        return Fraction(abs(self.numerator), self.denominator)

    def __float__(self):
        return self.numerator / self.denominator

    def __int__(self):
        return int(self.numerator / self.denominator) if abs(self.numerator) < 2 ** 53 else \
            (-1 if self.numerator < 0 else 1) * (abs(self.numerator) // self.denominator)

    __trunc__ = __int__

    def __floor__(self):
        return self.numerator // self.denominator

    def __ceil__(self):
        return -(-self.numerator // self.denominator)

    def __round__(self, ndigits=None):
        if ndigits is not None:
            scale = 10 ** ndigits
            return Fraction(round(self * scale), scale)
        low, rest = divmod(self.numerator, self.denominator)
        if rest * 2 > self.denominator or rest * 2 == self.denominator and low % 2:
            low += 1
        return low

    def __bool__(self):
        return self.numerator != 0

    def _order(self, other):
        if isinstance(other, float):
            other = Fraction(other)
        if not isinstance(other, (int, Fraction)):
            return None
        c, d = _ratio(other)
        return self.numerator * d - c * self.denominator

    def __eq__(self, other):
        return self._order(other) == 0

    def __lt__(self, other):
        return self._order(other) < 0

    def __le__(self, other):
        return self._order(other) <= 0

    def __gt__(self, other):
        return self._order(other) > 0

    def __ge__(self, other):
        return self._order(other) >= 0


def _ratio(value):
    if isinstance(value, Fraction):
        return value.numerator, value.denominator
    return value.as_integer_ratio()


def _parsed(text):
    top, slash, bottom = text.strip().partition("/")
    if slash:
        return int(top), int(bottom)
    whole, _, exponent = top.lower().partition("e")
    whole, _, rest = whole.partition(".")
    number, scale = int(whole + rest), len(rest) - int(exponent or 0)
    return (number, 10 ** scale) if scale >= 0 else (number * 10 ** -scale, 1)
