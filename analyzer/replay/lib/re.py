import _re

NOFLAG = 0
A = 256
ASCII = 256
I = 2
IGNORECASE = 2
M = 8
MULTILINE = 8
S = 16
DOTALL = 16
U = 32
UNICODE = 32
X = 64
VERBOSE = 64
_END = 1 << 31
_cache = {}


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        super().__init__(msg)
        self.msg = msg
        self.pattern = pattern
        self.pos = pos


PatternError = error


class Match:
    def __init__(self, pattern, string, spans, pos, endpos):
        self.re = pattern
        self.string = string
        self.pos = pos
        self.endpos = endpos
        self._spans = spans

    def _index(self, group):
        if isinstance(group, str):
            if group not in self.re.groupindex:
                raise IndexError("no such group")
            return self.re.groupindex[group]
        if not 0 <= group <= self.re.groups:
            raise IndexError("no such group")
        return group

    def _text(self, group, default=None):
        at = 2 * self._index(group)
        start = self._spans[at]
        return default if start < 0 or self._spans[at + 1] < 0 else self.string[start:self._spans[at + 1]]

    def group(self, *groups):
        if len(groups) < 2:
            return self._text(groups[0] if groups else 0)
        return tuple(self._text(g) for g in groups)

    def __getitem__(self, group):
        return self._text(group)

    def groups(self, default=None):
        return tuple(self._text(i, default) for i in range(1, self.re.groups + 1))

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def start(self, group=0):
        return self._spans[2 * self._index(group)]

    def end(self, group=0):
        return self._spans[2 * self._index(group) + 1]

    def span(self, group=0):
        return self.start(group), self.end(group)

    def expand(self, template):
        return _expand(template, self)

    @property
    def lastindex(self):
        ends = [(self._spans[2 * i + 1], -i) for i in range(1, self.re.groups + 1) if self._spans[2 * i] >= 0]
        return -max(ends)[1] if ends else None

    @property
    def lastgroup(self):
        for name, i in self.re.groupindex.items():
            if i == self.lastindex:
                return name
        return None

    def __repr__(self):
        return "<re.Match object; span=%r, match=%r>" % (self.span(), self.group())


def _expand(template, match):
    out, i = [], 0
    while i < len(template):
        c = template[i]
        i += 1
        if c != "\\" or i == len(template):
            out.append(c)
            continue
        c = template[i]
        i += 1
        if c == "g" and template[i:i + 1] == "<":
            stop = template.index(">", i)
            name = template[i + 1:stop]
            out.append(match._text(int(name) if name.isdigit() else name, ""))
            i = stop + 1
        elif c.isdigit():
            if template[i:i + 1].isdigit():
                c += template[i]
                i += 1
            out.append("\0" if c == "0" else match._text(int(c), ""))
        else:
            out.append({"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}.get(c, "\\" + c))
    return "".join(out)


class Pattern:
    def __init__(self, pattern, flags):
        made = _re.compile(pattern, flags)
        if isinstance(made, str):
            raise error(made, pattern)
        self.pattern = pattern
        self._number, self.groups, self.groupindex, self.flags = made
        self.flags |= UNICODE

    def _find(self, string, pos, endpos, how):
        spans = _re.find(self._number, string, pos, endpos, how)
        return None if spans is None else Match(self, string, spans, pos, min(endpos, len(string)))

    def search(self, string, pos=0, endpos=_END):
        return self._find(string, pos, endpos, 0)

    def match(self, string, pos=0, endpos=_END):
        return self._find(string, pos, endpos, 1)

    def fullmatch(self, string, pos=0, endpos=_END):
        return self._find(string, pos, endpos, 2)

    def finditer(self, string, pos=0, endpos=_END):
        how = 0
        while pos <= min(endpos, len(string)):
            match = self._find(string, pos, endpos, how)
            if match is None:
                return
            pos = match.end()
            how = 3 if match.start() == pos else 0
            yield match

    def findall(self, string, pos=0, endpos=_END):
        if not self.groups:
            return [m.group() for m in self.finditer(string, pos, endpos)]
        if self.groups == 1:
            return [m._text(1, "") for m in self.finditer(string, pos, endpos)]
        return [m.groups("") for m in self.finditer(string, pos, endpos)]

    def subn(self, repl, string, count=0):
        out, at, done = [], 0, 0
        for match in self.finditer(string):
            if count and done == count:
                break
            out.append(string[at:match.start()])
            out.append(repl(match) if callable(repl) else _expand(repl, match) if "\\" in repl else repl)
            at = match.end()
            done += 1
        out.append(string[at:])
        return "".join(out), done

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        out, at = [], 0
        for match in self.finditer(string):
            if maxsplit and len(out) // (self.groups + 1) == maxsplit:
                break
            out.append(string[at:match.start()])
            out.extend(match.groups())
            at = match.end()
        out.append(string[at:])
        return out

    def __repr__(self):
        return "re.compile(%r)" % self.pattern


def _compiled(pattern, flags):
    if isinstance(pattern, Pattern):
        return pattern
    key = (pattern, flags)
    if key not in _cache:
        _cache[key] = Pattern(pattern, flags)
    return _cache[key]


def compile(pattern, flags=0):
    return _compiled(pattern, flags)


def search(pattern, string, flags=0):
    return _compiled(pattern, flags).search(string)


def match(pattern, string, flags=0):
    return _compiled(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return _compiled(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return _compiled(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return _compiled(pattern, flags).finditer(string)


def sub(pattern, repl, string, count=0, flags=0):
    return _compiled(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return _compiled(pattern, flags).subn(repl, string, count)


def split(pattern, string, maxsplit=0, flags=0):
    return _compiled(pattern, flags).split(string, maxsplit)


def escape(pattern):
    return "".join("\\" + c if c in "()[]{}?*+-|^$\\.&~# \t\n\r\v\f" else c for c in pattern)


def purge():
    _cache.clear()
