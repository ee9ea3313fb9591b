import _support


def ascii(obj):
    out = []
    for c in repr(obj):
        code = ord(c)
        out.append(c if code < 128 else "\\x%02x" % code if code < 256 else "\\u%04x" % code if code < 65536
                   else "\\U%08x" % code)
    return "".join(out)


def breakpoint(*args, **kwargs):
    pass


def help(*args):
    pass


def anext(iterator, *default):
    return iterator.__anext__()


def aiter(iterable):
    return iterable.__aiter__()


class bytearray:
    def __init__(self, source=b"", encoding=None, errors=None):
        self._items = list(bytes(source, encoding) if isinstance(source, str) else bytes(source))

    def __bytes__(self):
        return bytes(self._items)

    def __repr__(self):
        return "bytearray(%r)" % bytes(self._items)

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, index):
        found = self._items[index]
        return bytearray(found) if isinstance(index, slice) else found

    def __setitem__(self, index, value):
        self._items[index] = value

    def __delitem__(self, index):
        del self._items[index]

    def __contains__(self, value):
        return value in self._items if isinstance(value, int) else bytes(value) in bytes(self._items)

    def __eq__(self, other):
        return bytes(self._items) == bytes(other) if isinstance(other, (bytes, bytearray)) else NotImplemented

    def __add__(self, other):
        return bytearray(self._items + list(other))

    def __iadd__(self, other):
        self._items.extend(other)
        return self

    def append(self, value):
        self._items.append(value)

    def extend(self, values):
        self._items.extend(values)

    def pop(self, index=-1):
        return self._items.pop(index)

    def insert(self, index, value):
        self._items.insert(index, value)

    def clear(self):
        self._items.clear()

    def reverse(self):
        self._items.reverse()

    def copy(self):
        return bytearray(self._items)

    def __getattr__(self, name):
        return getattr(bytes(self._items), name)


class memoryview:
    def __init__(self, obj):
        self.obj = obj
        self.nbytes = len(obj)

    def __len__(self):
        return len(self.obj)

    def __getitem__(self, index):
        return memoryview(self.obj[index]) if isinstance(index, slice) else self.obj[index]

    def __setitem__(self, index, value):
        self.obj[index] = value

    def tobytes(self):
        return bytes(self.obj)

    def tolist(self):
        return list(self.obj)

    __bytes__ = tobytes


def _parts(value):
    if isinstance(value, complex):
        return value.real, value.imag
    if isinstance(value, (int, float)):
        return float(value), 0.0
    return None


class complex:
    def __new__(cls, real=0, imag=0):
        if _support.is_unknown(real) or _support.is_unknown(imag):
            return _support.unknown("complex number")
        if isinstance(real, str):
            return _parsed(cls, real.strip().strip("()").lower())
        made = object.__new__(cls)
        if not isinstance(real, complex) and hasattr(real, "__complex__"):
            real = real.__complex__()
        a, b = _parts(real) or (float(real), 0.0)
        c, d = _parts(imag) or (float(imag), 0.0)
        made.real, made.imag = a - d, b + c
        return made

    def __repr__(self):
        from math import copysign
        a, b = self.real, self.imag
        texts = [repr(x)[:-2] if repr(x).endswith(".0") else repr(x) for x in (a, b)]
        if a == 0 and copysign(1.0, a) > 0:
            return texts[1] + "j"
        return "(%s%s%sj)" % (texts[0], "" if texts[1].startswith("-") else "+", texts[1])

    def __format__(self, spec):
        if not spec:
            return str(self)
        return format(self.real, spec) + format(self.imag, "+" + spec) + "j"

    def __hash__(self):
        return hash(self.real) + 1000003 * hash(self.imag)

    def __eq__(self, other):
        parts = _parts(other)
        return NotImplemented if parts is None else (self.real, self.imag) == parts

    def __bool__(self):
        return self.real != 0 or self.imag != 0

    def __complex__(self):
        return self

    def __abs__(self):
        from math import hypot
        return hypot(self.real, self.imag)

    def __neg__(self):
        return complex(-self.real, -self.imag)

    def __pos__(self):
        return self

    def conjugate(self):
        return complex(self.real, -self.imag)

    def __add__(self, other):
        parts = _parts(other)
        if parts is None:
            return _support.unknown("complex number") + other
        return complex(self.real + parts[0], self.imag + parts[1])

    __radd__ = __add__

    def __sub__(self, other):
        parts = _parts(other)
        if parts is None:
            return _support.unknown("complex number") - other
        return complex(self.real - parts[0], self.imag - parts[1])

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        parts = _parts(other)
        if parts is None:
            return _support.unknown("complex number") * other
        a, b = self.real, self.imag
        return complex(a * parts[0] - b * parts[1], a * parts[1] + b * parts[0])

    __rmul__ = __mul__

    def __truediv__(self, other):
        parts = _parts(other)
        if parts is None:
            return _support.unknown("complex number") / other
        return _quotient(self, parts)

    def __rtruediv__(self, other):
        parts = _parts(other)
        if parts is None:
            return other / _support.unknown("complex number")
        return _quotient(complex(*parts), (self.real, self.imag))

    def __pow__(self, other):
        parts = _parts(other)
        if parts is None:
            return _support.unknown("complex number") ** other
        return _power(self, complex(*parts))

    def __rpow__(self, other):
        parts = _parts(other)
        if parts is None:
            return other ** _support.unknown("complex number")
        return _power(complex(*parts), self)


def _parsed(cls, text):
    made = object.__new__(cls)
    made.real = made.imag = 0.0
    if not text.endswith("j"):
        made.real = float(text)
        return made
    text = text[:-1]
    cut = max([at for at in range(1, len(text)) if text[at] in "+-" and text[at - 1] != "e"], default=0)
    made.real = float(text[:cut]) if cut else 0.0
    text = text[cut:]
    made.imag = float(text + "1" if text in ("", "+", "-") else text)
    return made


def _quotient(a, b):
    c, d = b
    if c == 0 and d == 0:
        raise ZeroDivisionError("complex division by zero")
    if abs(c) >= abs(d):
        ratio = d / c
        under = c + d * ratio
        return complex((a.real + a.imag * ratio) / under, (a.imag - a.real * ratio) / under)
    ratio = c / d
    under = c * ratio + d
    return complex((a.real * ratio + a.imag) / under, (a.imag * ratio - a.real) / under)


def _power(a, b):
    from math import atan2, cos, exp, hypot, log, sin
    if b == 0:
        return complex(1, 0)
    if a == 0:
        if b.real < 0 or b.imag:
            raise ZeroDivisionError("0.0 to a negative or complex power")
        return complex(0, 0)
    if b.imag == 0 and b.real == int(b.real) and abs(b.real) <= 100:
        result = complex(1, 0)
        for _ in range(int(abs(b.real))):
            result = result * a
        return result if b.real > 0 else complex(1, 0) / result
    length, angle = hypot(a.real, a.imag), atan2(a.imag, a.real)
    size = length ** b.real * exp(-b.imag * angle)
    turn = b.real * angle + b.imag * log(length)
    return complex(size * cos(turn), size * sin(turn))


class ConnectionError(OSError):
    pass


class ConnectionResetError(ConnectionError):
    pass


class ConnectionRefusedError(ConnectionError):
    pass


class ConnectionAbortedError(ConnectionError):
    pass


class BrokenPipeError(ConnectionError):
    pass


class BlockingIOError(OSError):
    pass


class ChildProcessError(OSError):
    pass


class InterruptedError(OSError):
    pass


class IsADirectoryError(OSError):
    pass


class NotADirectoryError(OSError):
    pass


class ProcessLookupError(OSError):
    pass


class SystemError(Exception):
    pass


class IndentationError(SyntaxError):
    pass


class TabError(IndentationError):
    pass


class UnicodeTranslateError(UnicodeError):
    pass


class PendingDeprecationWarning(Warning):
    pass


class ImportWarning(Warning):
    pass


class ResourceWarning(Warning):
    pass


class SyntaxWarning(Warning):
    pass


class UnicodeWarning(Warning):
    pass


class BytesWarning(Warning):
    pass


class EncodingWarning(Warning):
    pass


class BaseExceptionGroup(BaseException):
    def __init__(self, message, exceptions):
        super().__init__(message, exceptions)
        self.message = message
        self.exceptions = tuple(exceptions)

    def __str__(self):
        count = len(self.exceptions)
        return "%s (%d sub-exception%s)" % (self.message, count, "" if count == 1 else "s")


class ExceptionGroup(BaseExceptionGroup, Exception):
    pass
