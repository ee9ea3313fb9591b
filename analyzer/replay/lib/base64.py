import _support

_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def b64encode(s, altchars=None):
    if _support.is_unknown(s):
        return _support.unknown("base64 text")
    data, out = list(s), []
    for at in range(0, len(data), 3):
        group = data[at:at + 3]
        number = int.from_bytes(bytes(group + [0] * (3 - len(group))), "big")
        out += [_letters[number >> shift & 63] for shift in (18, 12, 6, 0)][:len(group) + 1] + ["="] * (3 - len(group))
    text = "".join(out)
    if altchars is not None:
        text = text.replace("+", chr(altchars[0])).replace("/", chr(altchars[1]))
    return text.encode()


def b64decode(s, altchars=None, validate=False):
    if _support.is_unknown(s):
        return _support.unknown("base64 data")
    text = s if isinstance(s, str) else s.decode()
    if altchars is not None:
        text = text.replace(chr(altchars[0]), "+").replace(chr(altchars[1]), "/")
    text = "".join([c for c in text if c in _letters])
    out, number, bits = [], 0, 0
    for c in text:
        number, bits = number << 6 | _letters.index(c), bits + 6
        if bits >= 8:
            bits -= 8
            out.append(number >> bits & 255)
            number &= (1 << bits) - 1
    return bytes(out)


def urlsafe_b64encode(s):
    return b64encode(s, b"-_")


def urlsafe_b64decode(s):
    return b64decode(s, b"-_")


def b16encode(s):
    return s.hex().upper().encode()


standard_b64encode = b64encode
standard_b64decode = b64decode
