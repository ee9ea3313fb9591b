import _support


class JSONDecodeError(ValueError):
    def __init__(self, msg, doc, pos):
        line = doc.count("\n", 0, pos) + 1
        column = pos - doc.rfind("\n", 0, pos)
        ValueError.__init__(self, "%s: line %d column %d (char %d)" % (msg, line, column, pos))
        self.msg, self.doc, self.pos, self.lineno, self.colno = msg, doc, pos, line, column


_marks = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def _text(s, ascii=True):
    out = ['"']
    for c in s:
        code = ord(c)
        if c in _marks:
            out.append(_marks[c])
        elif code < 32 or ascii and 126 < code < 65536:
            out.append("\\u%04x" % code)
        elif ascii and code > 126:
            code -= 65536
            out.append("\\u%04x\\u%04x" % (0xd800 | code >> 10, 0xdc00 | code & 1023))
        else:
            out.append(c)
    out.append('"')
    return "".join(out)


def _number(obj):
    if isinstance(obj, float):
        text = float.__repr__(obj)
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)
    return int.__repr__(obj)


class JSONEncoder:
    def __init__(self, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, sort_keys=False,
                 indent=None, separators=None, default=None):
        self.ensure_ascii = ensure_ascii
        self.sort_keys = sort_keys
        self.skipkeys = skipkeys
        self.indent = " " * indent if isinstance(indent, int) else indent
        self.item_separator, self.key_separator = separators or ("," if indent is not None else ", ", ": ")
        if default is not None:
            self.default = default

    def default(self, o):
        raise TypeError("Object of type %s is not JSON serializable" % type(o).__name__)

    def encode(self, o):
        return self._dump(o, 0)

    def iterencode(self, o):
        yield self._dump(o, 0)

    def _key(self, key):
        if isinstance(key, str):
            return _text(key, self.ensure_ascii)
        if key is None or isinstance(key, (bool, int, float)):
            return '"' + self._dump(key, 0) + '"'
        if _support.is_unknown(key):
            return '"key"'
        raise TypeError("keys must be str, int, float, bool or None, not %s" % type(key).__name__)

    def _join(self, parts, level, ends):
        if not parts:
            return ends
        if self.indent is None:
            return ends[0] + self.item_separator.join(parts) + ends[1]
        pad = "\n" + self.indent * (level + 1)
        return ends[0] + pad + (self.item_separator + pad).join(parts) + "\n" + self.indent * level + ends[1]

    def _dump(self, obj, level):
        if obj is None:
            return "null"
        if obj is True:
            return "true"
        if obj is False:
            return "false"
        if isinstance(obj, str):
            return _text(obj, self.ensure_ascii)
        if isinstance(obj, (int, float)):
            return _number(obj)
        if isinstance(obj, (list, tuple)):
            return self._join([self._dump(value, level + 1) for value in obj], level, "[]")
        if isinstance(obj, dict):
            items = sorted(obj.items()) if self.sort_keys else obj.items()
            return self._join([self._key(key) + self.key_separator + self._dump(value, level + 1)
                               for key, value in items], level, "{}")
        if _support.is_unknown(obj):
            return "null"
        return self._dump(self.default(obj), level)


def dumps(obj, *, skipkeys=False, ensure_ascii=True, check_circular=True, allow_nan=True, cls=None, indent=None,
          separators=None, default=None, sort_keys=False, **kw):
    return (cls or JSONEncoder)(skipkeys=skipkeys, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                                default=default, sort_keys=sort_keys, **kw).encode(obj)


def dump(obj, fp, **kwargs):
    fp.write(dumps(obj, **kwargs))


class _Reader:
    def __init__(self, text, hooks):
        self.text = text
        self.at = 0
        self.hook, self.pairs_hook, self.to_float, self.to_int = hooks

    def fail(self, message, at=None):
        raise JSONDecodeError(message, self.text, self.at if at is None else at)

    def skip(self):
        text, at, end = self.text, self.at, len(self.text)
        while at < end and text[at] in " \t\n\r":
            at += 1
        self.at = at
        return text[at] if at < end else ""

    def value(self):
        c = self.skip()
        if c == '"':
            return self.string()
        if c == "{":
            return self.mapping()
        if c == "[":
            return self.sequence()
        for word, value in (("null", None), ("true", True), ("false", False), ("NaN", float("nan")),
                            ("Infinity", float("inf")), ("-Infinity", float("-inf"))):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.number()

    def number(self):
        text, start = self.text, self.at
        at = start + 1 if text.startswith("-", start) else start
        first = at
        while text[at:at + 1].isdigit():
            at += 1
        if at == first:
            self.fail("Expecting value", start)
        if text[first] == "0":
            at = first + 1
        whole = at
        if text[at:at + 1] == "." and text[at + 1:at + 2].isdigit():
            at += 1
            while text[at:at + 1].isdigit():
                at += 1
        if text[at:at + 1] in ("e", "E"):
            digits = at + 2 if text[at + 1:at + 2] in ("+", "-") else at + 1
            if text[digits:digits + 1].isdigit():
                at = digits
                while text[at:at + 1].isdigit():
                    at += 1
        self.at = at
        return (self.to_int if at == whole else self.to_float)(text[start:at])

    def string(self):
        text, out = self.text, []
        begin, at = self.at, self.at + 1
        while True:
            end = text.find('"', at)
            if end < 0:
                self.fail("Unterminated string starting at", begin)
            slash = text.find("\\", at, end)
            if slash < 0:
                out.append(text[at:end])
                self.at = end + 1
                return "".join(out)
            out.append(text[at:slash])
            c = text[slash + 1:slash + 2]
            at = slash + 2
            if c == "u":
                code = int(text[at:at + 4], 16)
                at += 4
                if 0xd800 <= code < 0xdc00 and text.startswith("\\u", at):
                    code = 65536 + ((code - 0xd800) << 10) + int(text[at + 2:at + 6], 16) - 0xdc00
                    at += 6
                out.append(chr(code))
            elif c in ('"', "\\", "/"):
                out.append(c)
            elif c and c in "bfnrt":
                out.append("\b\f\n\r\t"["bfnrt".index(c)])
            else:
                self.fail("Invalid \\escape", slash)

    def sequence(self):
        self.at += 1
        items = []
        if self.skip() == "]":
            self.at += 1
            return items
        while True:
            items.append(self.value())
            c = self.skip()
            if c == "]":
                self.at += 1
                return items
            if c != ",":
                self.fail("Expecting ',' delimiter")
            self.at += 1

    def mapping(self):
        self.at += 1
        pairs = []
        if self.skip() == "}":
            self.at += 1
            return self.made(pairs)
        while True:
            if self.skip() != '"':
                self.fail("Expecting property name enclosed in double quotes")
            key = self.string()
            if self.skip() != ":":
                self.fail("Expecting ':' delimiter")
            self.at += 1
            pairs.append((key, self.value()))
            c = self.skip()
            if c == "}":
                self.at += 1
                return self.made(pairs)
            if c != ",":
                self.fail("Expecting ',' delimiter")
            self.at += 1

    def made(self, pairs):
        if self.pairs_hook is not None:
            return self.pairs_hook(pairs)
        return dict(pairs) if self.hook is None else self.hook(dict(pairs))


class JSONDecoder:
    def __init__(self, *, object_hook=None, parse_float=None, parse_int=None, parse_constant=None, strict=True,
                 object_pairs_hook=None):
        self._hooks = (object_hook, object_pairs_hook, parse_float or float, parse_int or int)

    def raw_decode(self, s, idx=0):
        reader = _Reader(s, self._hooks)
        reader.at = idx
        value = reader.value()
        return value, reader.at

    def decode(self, s):
        reader = _Reader(s, self._hooks)
        value = reader.value()
        reader.skip()
        if reader.at != len(s):
            reader.fail("Extra data")
        return value


def loads(s, *, cls=None, **kwargs):
    if _support.is_unknown(s):
        return _support.unknown("json.loads()")
    if isinstance(s, (bytes, bytearray)):
        s = bytes(s).decode()
    if not isinstance(s, str):
        raise TypeError("the JSON object must be str, bytes or bytearray, not %s" % type(s).__name__)
    return (cls or JSONDecoder)(**kwargs).decode(s)


def load(fp, **kwargs):
    text = fp.read()
    return _support.unknown("json.load()") if _support.is_unknown(text) else loads(text, **kwargs)
