import _support


def int___abs__(self):
    return abs(_support.plain(self))


def int___neg__(self):
    return -_support.plain(self)


def int___pos__(self):
    return +_support.plain(self)


def int___invert__(self):
    return ~_support.plain(self)


def int___float__(self):
    return float(_support.plain(self))


def int___round__(self, ndigits=None):
    return round(_support.plain(self), ndigits)


def int___mod__(self, other):
    return _support.plain(self) % _support.plain(other)


def int___floordiv__(self, other):
    return _support.plain(self) // _support.plain(other)


def int___divmod__(self, other):
    return divmod(_support.plain(self), _support.plain(other))


def int___pow__(self, other, mod=None):
    return pow(_support.plain(self), _support.plain(other), mod)


def int___and__(self, other):
    return _support.plain(self) & _support.plain(other)


def int___or__(self, other):
    return _support.plain(self) | _support.plain(other)


def int___xor__(self, other):
    return _support.plain(self) ^ _support.plain(other)


def int___lshift__(self, other):
    return _support.plain(self) << _support.plain(other)


def int___rshift__(self, other):
    return _support.plain(self) >> _support.plain(other)


def int___trunc__(self):
    return _support.plain(self)


int___floor__ = int___trunc__
int___ceil__ = int___trunc__


def int_bit_count(self):
    return bin(_support.plain(self)).count("1")


def int_as_integer_ratio(self):
    return (_support.plain(self), 1)


def int_to_bytes(self, length=1, byteorder="big", *, signed=False):
    number = _support.plain(self)
    if number < 0 and not signed:
        raise OverflowError("can't convert negative int to unsigned")
    bits = 8 * length
    if signed and not -(1 << bits) <= 2 * number < 1 << bits or not signed and number >> bits:
        raise OverflowError("int too big to convert")
    number &= (1 << bits) - 1
    digits = [number >> 8 * place & 255 for place in range(length)]
    return bytes(digits if byteorder == "little" else digits[::-1])


@staticmethod
def int_from_bytes(bytes, byteorder="big", *, signed=False):
    digits = list(bytes)
    number = 0
    for digit in digits[::-1] if byteorder == "little" else digits:
        number = number << 8 | digit
    if signed and digits and number >> 8 * len(digits) - 1:
        number -= 1 << 8 * len(digits)
    return number


def float___abs__(self):
    return abs(_support.plain(self))


def float___neg__(self):
    return -_support.plain(self)


def float___pos__(self):
    return +_support.plain(self)


def float___int__(self):
    return int(_support.plain(self))


float___trunc__ = float___int__


def float___round__(self, ndigits=None):
    return round(_support.plain(self), ndigits)


def float___mod__(self, other):
    return _support.plain(self) % _support.plain(other)


def float___floordiv__(self, other):
    return _support.plain(self) // _support.plain(other)


def float___divmod__(self, other):
    return divmod(_support.plain(self), _support.plain(other))


def float___pow__(self, other, mod=None):
    return pow(_support.plain(self), _support.plain(other))


def float_as_integer_ratio(self):
    from math import frexp, isinf, isnan
    if isnan(self):
        raise ValueError("cannot convert NaN to integer ratio")
    if isinf(self):
        raise OverflowError("cannot convert Infinity to integer ratio")
    fraction, exponent = frexp(self)
    top, bottom = int(fraction * 2 ** 53), 1
    exponent -= 53
    if exponent > 0:
        top <<= exponent
    else:
        while exponent < 0 and top % 2 == 0 and top:
            top //= 2
            exponent += 1
        bottom = 1 << -exponent if top else 1
    return (top, bottom)


def float_hex(self):
    from math import copysign, frexp, isinf, isnan
    if isnan(self) or isinf(self):
        return repr(_support.plain(self))
    sign = "-" if copysign(1.0, self) < 0 else ""
    if self == 0:
        return sign + "0x0.0p+0"
    fraction, exponent = frexp(abs(self))
    exponent -= 1
    least = max(-1022 - exponent, 0)
    digits = int(fraction * 2 ** 53) >> least
    return "%s0x%d.%013xp%+d" % (sign, digits >> 52, digits & (1 << 52) - 1, exponent + least)


@staticmethod
def float_fromhex(string):
    text = string.strip().lower()
    sign = -1.0 if text.startswith("-") else 1.0
    text = text.lstrip("+-")
    if text in ("inf", "infinity", "nan"):
        return sign * float(text)
    text = text[2:] if text.startswith("0x") else text
    digits, _, exponent = text.partition("p")
    whole, _, rest = digits.partition(".")
    return sign * int(whole + rest or "0", 16) * 2.0 ** (int(exponent or 0) - 4 * len(rest))


def str_isascii(self):
    return all(ord(c) < 128 for c in self)


def str_isprintable(self):
    return all(ord(c) >= 32 and ord(c) != 127 for c in self)


def str_istitle(self):
    inside = any_cased = False
    for c in self:
        if c.isupper():
            if inside:
                return False
            inside = any_cased = True
        elif c.islower():
            if not inside:
                return False
            inside = any_cased = True
        else:
            inside = False
    return any_cased


def str_casefold(self):
    return self.lower().replace("ß", "ss")


def str_expandtabs(self, tabsize=8):
    out = []
    column = 0
    for c in self:
        if c == "\t":
            width = tabsize - column % tabsize if tabsize > 0 else 0
            out.append(" " * width)
            column += width
        else:
            out.append(c)
            column = 0 if c in "\r\n" else column + 1
    return "".join(out)


@staticmethod
def str_maketrans(x, y=None, z=""):
    if y is None:
        return {ord(key) if isinstance(key, str) else key: value for key, value in x.items()}
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {ord(a): ord(b) for a, b in zip(x, y)}
    table.update({ord(c): None for c in z})
    return table


def str_translate(self, table):
    out = []
    for c in self:
        try:
            to = table[ord(c)]
        except LookupError:
            to = c
        if to is not None:
            out.append(chr(to) if isinstance(to, int) else to)
    return "".join(out)


def str___add__(self, other):
    return _support.builtin_binary("+", self, other)


def str___mul__(self, other):
    return _support.builtin_binary("*", self, other)


def str___mod__(self, other):
    return _support.builtin_binary("%", self, other)


def str___contains__(self, other):
    return other in str(self)


def str___getitem__(self, index):
    return str.__str__(self)[index]


def str___iter__(self):
    return iter(str.__str__(self))


def _text(data):
    return "".join([chr(c) for c in data])


def _data(text):
    return bytes([ord(c) for c in text])


def bytes___len__(self):
    return len(_text(self))


def bytes___iter__(self):
    return iter(self[:])


def bytes___add__(self, other):
    return _support.builtin_binary("+", self, other)


def bytes_split(self, sep=None, maxsplit=-1):
    return [_data(part) for part in _text(self).split(None if sep is None else _text(sep), maxsplit)]


def bytes_rsplit(self, sep=None, maxsplit=-1):
    return [_data(part) for part in _text(self).rsplit(None if sep is None else _text(sep), maxsplit)]


def bytes_splitlines(self, keepends=False):
    return [_data(part) for part in _text(self).splitlines(keepends)]


def bytes_strip(self, chars=None):
    return _data(_text(self).strip(None if chars is None else _text(chars)))


def bytes_lstrip(self, chars=None):
    return _data(_text(self).lstrip(None if chars is None else _text(chars)))


def bytes_rstrip(self, chars=None):
    return _data(_text(self).rstrip(None if chars is None else _text(chars)))


def bytes_replace(self, old, new, count=-1):
    return _data(_text(self).replace(_text(old), _text(new), count))


def bytes_join(self, parts):
    return _data(_text(self).join([_text(part) for part in parts]))


def _sought(sub):
    return chr(sub) if isinstance(sub, int) else _text(sub)


def bytes_find(self, sub, *bounds):
    return _text(self).find(_sought(sub), *bounds)


def bytes_rfind(self, sub, *bounds):
    return _text(self).rfind(_sought(sub), *bounds)


def bytes_index(self, sub, *bounds):
    return _text(self).index(_sought(sub), *bounds)


def bytes_count(self, sub, *bounds):
    return _text(self).count(_sought(sub), *bounds)


def bytes_startswith(self, prefix, *bounds):
    prefix = tuple([_text(p) for p in prefix]) if isinstance(prefix, tuple) else _text(prefix)
    return _text(self).startswith(prefix, *bounds)


def bytes_endswith(self, suffix, *bounds):
    suffix = tuple([_text(s) for s in suffix]) if isinstance(suffix, tuple) else _text(suffix)
    return _text(self).endswith(suffix, *bounds)


def bytes_partition(self, sep):
    return tuple([_data(part) for part in _text(self).partition(_text(sep))])


def bytes_rpartition(self, sep):
    return tuple([_data(part) for part in _text(self).rpartition(_text(sep))])


def bytes_removeprefix(self, prefix):
    return _data(_text(self).removeprefix(_text(prefix)))


def bytes_removesuffix(self, suffix):
    return _data(_text(self).removesuffix(_text(suffix)))


def bytes_upper(self):
    return _data(_text(self).upper())


def bytes_lower(self):
    return _data(_text(self).lower())


def bytes_title(self):
    return _data(_text(self).title())


def bytes_isdigit(self):
    return _text(self).isdigit()


def bytes_isalpha(self):
    return _text(self).isalpha()


def bytes_ljust(self, width, fill=b" "):
    return _data(_text(self).ljust(width, _text(fill)))


def bytes_rjust(self, width, fill=b" "):
    return _data(_text(self).rjust(width, _text(fill)))


def bytes_zfill(self, width):
    return _data(_text(self).zfill(width))


def bytes_translate(self, table, delete=b""):
    return bytes([c if table is None else table[c] for c in self if c not in delete])


@staticmethod
def bytes_fromhex(string):
    digits = "".join(string.split())
    return bytes([int(digits[at:at + 2], 16) for at in range(0, len(digits), 2)])


@classmethod
def list___class_getitem__(cls, args):
    from types import GenericAlias
    return GenericAlias(cls, args)


tuple___class_getitem__ = list___class_getitem__
dict___class_getitem__ = list___class_getitem__
set___class_getitem__ = list___class_getitem__
frozenset___class_getitem__ = list___class_getitem__
deque___class_getitem__ = list___class_getitem__
type___class_getitem__ = list___class_getitem__


def list___add__(self, other):
    return _support.builtin_binary("+", self, other)


def list___mul__(self, other):
    return _support.builtin_binary("*", self, other)


def list___iadd__(self, other):
    list.extend(self, other)
    return self


def list___reversed__(self):
    return reversed([*list.__iter__(self)])


def tuple___add__(self, other):
    return _support.builtin_binary("+", self, other)


def tuple___mul__(self, other):
    return _support.builtin_binary("*", self, other)


def dict___or__(self, other):
    return _support.builtin_binary("|", self, other)


def dict___ror__(self, other):
    return _support.builtin_binary("|", other, self)


def dict___ior__(self, other):
    dict.update(self, other)
    return self


def set___or__(self, other):
    return _support.builtin_binary("|", self, other)


def set___and__(self, other):
    return _support.builtin_binary("&", self, other)


def set___sub__(self, other):
    return _support.builtin_binary("-", self, other)


def set___xor__(self, other):
    return _support.builtin_binary("^", self, other)


def set___ior__(self, other):
    set.update(self, other)
    return self


frozenset___or__ = set___or__
frozenset___and__ = set___and__
frozenset___sub__ = set___sub__
frozenset___xor__ = set___xor__


def set_difference_update(self, *others):
    for other in others:
        for item in list(other):
            self.discard(item)


def set_intersection_update(self, *others):
    for other in others:
        kept = set(other)
        for item in list(self):
            if item not in kept:
                self.discard(item)


def set_symmetric_difference_update(self, other):
    for item in set(other):
        if item in self:
            self.discard(item)
        else:
            self.add(item)


def range_index(self, value):
    if value not in self:
        raise ValueError("%r is not in range" % value)
    return (value - self.start) // self.step


def range_count(self, value):
    return 1 if value in self else 0


def range___len__(self):
    return len(self)


def range___iter__(self):
    return iter(self)


def range___getitem__(self, index):
    return self[index]


def range___contains__(self, value):
    return value in self


@property
def generator_gi_frame(self):
    return _support.unknown("frame") if _support.is_live(self) else None


@property
def generator_gi_running(self):
    return False


@property
def generator___name__(self):
    return _support.generator_name(self)


generator___qualname__ = generator___name__


def deque___copy__(self):
    return self.copy()


@property
def property_fget(self):
    return _support.parts(self)[0]


@property
def property_fset(self):
    return _support.parts(self)[1]


@property
def property_fdel(self):
    return _support.parts(self)[2]


@property
def property___isabstractmethod__(self):
    return any(getattr(part, "__isabstractmethod__", False) for part in _support.parts(self)[:3])


def property___get__(self, obj, cls=None):
    return self if obj is None else _support.parts(self)[0](obj)


def property___set__(self, obj, value):
    _support.parts(self)[1](obj, value)


@property
def classmethod___func__(self):
    return _support.parts(self)[0]


@property
def classmethod___isabstractmethod__(self):
    return getattr(_support.parts(self)[0], "__isabstractmethod__", False)


def classmethod___get__(self, obj, cls=None):
    return _support.parts(self)[0].__get__(type(obj) if cls is None else cls)


staticmethod___func__ = classmethod___func__
staticmethod___wrapped__ = classmethod___func__
classmethod___wrapped__ = classmethod___func__
staticmethod___isabstractmethod__ = classmethod___isabstractmethod__


def staticmethod___get__(self, obj, cls=None):
    return _support.parts(self)[0]


class _Code:
    def __init__(self, function):
        self.co_name, self.co_qualname = function.__name__, function.__qualname__
        self.co_varnames, self.co_argcount, self.co_kwonlyargcount = _support.variables(function)
        self.co_filename, self.co_firstlineno = _support.place(function)
        self.co_nlocals = len(self.co_varnames)
        self.co_flags = 0x20 if _support.is_generator_function(function) else 0


@property
def function___code__(self):
    return _Code(self)


function___closure__ = None


@property
def function___kwdefaults__(self):
    found = {row[0]: row[3] for row in _support.signature(self) if row[1] == 3 and row[2]}
    return found or None


async def generator___anext__(self):
    try:
        return next(self)
    except StopIteration:
        raise StopAsyncIteration from None


async def generator_athrow(self, *args):
    try:
        return self.throw(*args)
    except StopIteration:
        raise StopAsyncIteration from None


async def generator_aclose(self):
    self.close()


def function___call__(self, *args, **kwargs):
    return self(*args, **kwargs)


@property
def builtin_function_or_method___name__(self):
    return _support.native_name(self)


builtin_function_or_method___qualname__ = builtin_function_or_method___name__


BaseException___cause__ = None
BaseException___context__ = None


@property
def BaseException___suppress_context__(self):
    return "__cause__" in _support.attrs(self)


class traceback:
    def __init__(self, exception, inside=0):
        self._exception = exception
        self._inside = inside
        self.tb_lineno = 0

    @property
    def tb_next(self):
        frames = _support.attrs(self._exception).get("$frames", ())
        return traceback(self._exception, self._inside + 1) if self._inside + 1 < len(frames) else None

    @property
    def tb_frame(self):
        return _support.unknown("frame")


def _traceback_get(self):
    return traceback(self) if "$frames" in _support.attrs(self) else None


def _traceback_set(self, value):
    if value is None:
        _support.attrs(self).pop("$frames", None)


BaseException___traceback__ = property(_traceback_get, _traceback_set)


@property
def OSError_errno(self):
    return self.args[0] if len(self.args) > 1 else None


@property
def OSError_strerror(self):
    return self.args[1] if len(self.args) > 1 else None


@property
def OSError_filename(self):
    return self.args[2] if len(self.args) > 2 else None


@property
def ImportError_name(self):
    return None
