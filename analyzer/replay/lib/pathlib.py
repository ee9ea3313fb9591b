import os


class PurePath:
    def __init__(self, *parts):
        text = ""
        for part in parts:
            part = str(part)
            text = part if part.startswith("/") or not text else text.rstrip("/") + "/" + part
        pieces = [p for p in text.split("/") if p and p != "."]
        self._text = ("/" if text.startswith("/") else "") + "/".join(pieces) or "."

    def __str__(self):
        return self._text

    def __fspath__(self):
        return self._text

    def __repr__(self):
        return "PosixPath(%r)" % self._text

    def __hash__(self):
        return hash(self._text)

    def __eq__(self, other):
        return isinstance(other, PurePath) and str(other) == self._text

    def __lt__(self, other):
        return self._text < str(other)

    def __truediv__(self, other):
        return type(self)(self._text, other)

    def __rtruediv__(self, other):
        return type(self)(other, self._text)

    def joinpath(self, *others):
        return type(self)(self._text, *others)

    @property
    def parts(self):
        pieces = [p for p in self._text.split("/") if p]
        return tuple((["/"] if self._text.startswith("/") else []) + pieces)

    @property
    def name(self):
        return "" if self._text in (".", "/") else self._text.rsplit("/", 1)[-1]

    @property
    def suffix(self):
        dot = self.name.rfind(".")
        return self.name[dot:] if 0 < dot < len(self.name) - 1 else ""

    @property
    def stem(self):
        return self.name[:len(self.name) - len(self.suffix)]

    @property
    def parent(self):
        head = self._text.rsplit("/", 1)[0] if "/" in self._text else "."
        return type(self)(head or "/")

    @property
    def suffixes(self):
        return ["." + part for part in self.name.lstrip(".").split(".")[1:]]

    @property
    def parents(self):
        found, one = [], self
        while one.parent._text != one._text:
            one = one.parent
            found.append(one)
        return tuple(found)

    @property
    def root(self):
        return "/" if self.is_absolute() else ""

    anchor = root
    drive = ""

    def relative_to(self, *other):
        base = type(self)(*other)
        if base._text == ".":
            return self
        if not self.is_relative_to(base):
            raise ValueError("%r is not in the subpath of %r" % (self._text, base._text))
        return type(self)(*self.parts[len(base.parts):])

    def is_relative_to(self, *other):
        parts = type(self)(*other).parts
        return self.parts[:len(parts)] == parts

    def match(self, pattern):
        import fnmatch
        wanted = pattern.split("/")
        have = [part.strip("/") for part in self.parts]
        return len(wanted) <= len(have) and all(
            [fnmatch.fnmatchcase(part, one) for part, one in zip(have[len(have) - len(wanted):], wanted)])

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def as_uri(self):
        return "file://" + self._text

    def __le__(self, other):
        return self._text <= str(other)

    def __gt__(self, other):
        return self._text > str(other)

    def __ge__(self, other):
        return self._text >= str(other)

    def as_posix(self):
        return self._text

    def is_absolute(self):
        return self._text.startswith("/")

    def with_suffix(self, suffix):
        return type(self)(self._text[:len(self._text) - len(self.suffix)] + suffix)

    def with_name(self, name):
        return type(self)(self.parent, name)


class Path(PurePath):
    @classmethod
    def cwd(cls):
        return cls(os.getcwd())

    def mkdir(self, mode=511, parents=False, exist_ok=False):
        pass

    def unlink(self, missing_ok=False):
        pass

    def resolve(self, strict=False):
        return self if self.is_absolute() else Path(os.getcwd(), self)

    absolute = resolve
    expanduser = resolve

    def exists(self):
        return os.path.exists(self._text)

    def is_file(self):
        return os.path.isfile(self._text)

    def is_dir(self):
        return os.path.isdir(self._text)

    def open(self, *args, **kwargs):
        return open(self._text, *args, **kwargs)

    def glob(self, pattern):
        return os.listdir(self._text)

    rglob = glob
    iterdir = os.listdir


PosixPath = Path
PurePosixPath = PurePath
