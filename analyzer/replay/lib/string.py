import re as _re

ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ascii_letters = ascii_lowercase + ascii_uppercase
digits = "0123456789"
hexdigits = digits + "abcdefABCDEF"
octdigits = "01234567"
punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
whitespace = " \t\n\r\x0b\x0c"
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or " ").join([word.capitalize() for word in s.split(sep)])


class Template:
    delimiter = "$"

    def __init__(self, template):
        self.template = template

    def _filled(self, mapping, kws, safe):
        values = {**mapping, **kws}

        def put(match):
            if match.group() == "$$":
                return "$"
            name = match.group(1) or match.group(2)
            if name is None:
                if safe:
                    return match.group()
                raise ValueError("Invalid placeholder in string: line 1, col %d" % (match.start() + 1))
            if safe and name not in values:
                return match.group()
            return str(values[name])
        return _re.sub(r"\$(?:\$|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\}|)", put, self.template)

    def substitute(self, mapping={}, /, **kws):
        return self._filled(mapping, kws, False)

    def safe_substitute(self, mapping={}, /, **kws):
        return self._filled(mapping, kws, True)


class Formatter:
    def format(self, format_string, /, *args, **kwargs):
        return format_string.format(*args, **kwargs)

    def vformat(self, format_string, args, kwargs):
        return format_string.format(*args, **kwargs)
