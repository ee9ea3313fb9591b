import _support


class _empty:
    pass


def isclass(obj):
    return isinstance(obj, type)


def isfunction(obj):
    return isinstance(obj, _support.builtin_type("function"))


def ismethod(obj):
    return isinstance(obj, _support.builtin_type("method"))


def ismodule(obj):
    return isinstance(obj, _support.builtin_type("module"))


def isbuiltin(obj):
    return isinstance(obj, _support.builtin_type("native"))


def isroutine(obj):
    return isfunction(obj) or ismethod(obj) or isbuiltin(obj)


def isgenerator(obj):
    return isinstance(obj, _support.builtin_type("generator"))


def iscoroutine(obj):
    return False


def isawaitable(obj):
    return hasattr(obj, "__await__")


def iscoroutinefunction(obj):
    return _support.is_coroutine_function(obj)


def isgeneratorfunction(obj):
    return _support.is_generator_function(obj)


def isabstract(obj):
    return isinstance(obj, type) and bool(getattr(obj, "__abstractmethods__", None))


def isdatadescriptor(obj):
    return hasattr(obj, "__set__") or hasattr(obj, "__delete__")


def getmembers(obj, predicate=None):
    found = []
    for name in sorted(dir(obj)):
        value = getattr(obj, name, None)
        if predicate is None or predicate(value):
            found.append((name, value))
    return found


def getmro(cls):
    return cls.__mro__


def getmodule(obj):
    import sys
    return sys.modules.get(getattr(obj, "__module__", None))


def unwrap(func, *, stop=None):
    while hasattr(func, "__wrapped__") and not (stop is not None and stop(func)):
        func = func.__wrapped__
    return func


def cleandoc(doc):
    lines = doc.expandtabs().split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(indents) if indents else 0
    lines = [lines[0].lstrip(), *[line[margin:] for line in lines[1:]]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def getdoc(obj):
    doc = getattr(obj, "__doc__", None)
    return cleandoc(doc) if isinstance(doc, str) else None


def getsource(obj):
    return _support.unknown("source")


def getsourcelines(obj):
    return _support.unknown("source")


def getfile(obj):
    return _support.place(obj)[0]


def getsourcefile(obj):
    return _support.place(obj)[0]


def currentframe():
    return _support.unknown("frame")


def stack(context=1):
    return _support.unknown("stack")


class _Kind(int):
    def __new__(cls, value, name):
        made = int.__new__(cls, value)
        made.name = name
        return made

    @property
    def description(self):
        return self.name.lower().replace("_", " ")

    def __repr__(self):
        return "<_ParameterKind.%s: %d>" % (self.name, int(self))

    def __str__(self):
        return self.name


class Parameter:
    empty = _empty
    POSITIONAL_ONLY = _Kind(0, "POSITIONAL_ONLY")
    POSITIONAL_OR_KEYWORD = _Kind(1, "POSITIONAL_OR_KEYWORD")
    VAR_POSITIONAL = _Kind(2, "VAR_POSITIONAL")
    KEYWORD_ONLY = _Kind(3, "KEYWORD_ONLY")
    VAR_KEYWORD = _Kind(4, "VAR_KEYWORD")

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = annotation

    def replace(self, **changes):
        options = {"name": self.name, "kind": self.kind, "default": self.default, "annotation": self.annotation}
        options.update(changes)
        return Parameter(options.pop("name"), options.pop("kind"), **options)

    def __str__(self):
        text = {2: "*", 4: "**"}.get(int(self.kind), "") + self.name
        if self.annotation is not _empty:
            text += ": " + formatannotation(self.annotation)
        if self.default is not _empty:
            text += (" = " if self.annotation is not _empty else "=") + repr(self.default)
        return text

    def __repr__(self):
        return '<Parameter "%s">' % self

    def __eq__(self, other):
        return isinstance(other, Parameter) and str(self) == str(other) and self.kind == other.kind


def formatannotation(annotation, base_module=None):
    if isinstance(annotation, type):
        return annotation.__qualname__ if annotation.__module__ == "builtins" else \
            annotation.__module__ + "." + annotation.__qualname__
    return repr(annotation)


class BoundArguments:
    def __init__(self, signature, arguments):
        self.signature = signature
        self.arguments = arguments

    def apply_defaults(self):
        all = {}
        for name, p in self.signature.parameters.items():
            if name in self.arguments:
                all[name] = self.arguments[name]
            elif p.default is not _empty:
                all[name] = p.default
            elif p.kind == 2:
                all[name] = ()
            elif p.kind == 4:
                all[name] = {}
        self.arguments = all

    @property
    def args(self):
        out = []
        for name, value in self.arguments.items():
            kind = self.signature.parameters[name].kind
            if kind == 2:
                out += value
            elif kind < 2:
                out.append(value)
        return tuple(out)

    @property
    def kwargs(self):
        out = {}
        for name, value in self.arguments.items():
            kind = self.signature.parameters[name].kind
            if kind == 4:
                out.update(value)
            elif kind == 3:
                out[name] = value
        return out


class Signature:
    empty = _empty

    def __init__(self, parameters=(), *, return_annotation=_empty):
        self.parameters = {p.name: p for p in parameters}
        self.return_annotation = return_annotation

    @classmethod
    def from_callable(cls, obj):
        return signature(obj)

    def replace(self, *, parameters=None, return_annotation=_empty):
        return Signature(self.parameters.values() if parameters is None else parameters,
                         return_annotation=return_annotation)

    def bind_partial(self, *args, **kwargs):
        return self._bind(args, kwargs, True)

    def bind(self, *args, **kwargs):
        return self._bind(args, kwargs, False)

    def _bind(self, args, kwargs, partial):
        found, args = {}, list(args)
        for name, p in self.parameters.items():
            if p.kind == 2:
                if args:
                    found[name] = tuple(args)
                args = []
            elif p.kind == 4:
                if kwargs:
                    found[name] = dict(kwargs)
                kwargs = {}
            elif args and p.kind < 2:
                if name in kwargs:
                    raise TypeError("multiple values for argument %r" % name)
                found[name] = args.pop(0)
            elif name in kwargs and p.kind > 0:
                found[name] = kwargs[name]
                kwargs = {key: value for key, value in kwargs.items() if key != name}
            elif p.default is _empty and not partial:
                raise TypeError("missing a required argument: %r" % name)
        if args:
            raise TypeError("too many positional arguments")
        if kwargs:
            raise TypeError("got an unexpected keyword argument %r" % next(iter(kwargs)))
        return BoundArguments(self, found)

    def __str__(self):
        parts, star = [], False
        only = [p for p in self.parameters.values() if p.kind == 0]
        for p in self.parameters.values():
            if p.kind == 3 and not star:
                parts.append("*")
                star = True
            star = star or p.kind == 2
            parts.append(str(p))
            if only and p is only[-1]:
                parts.append("/")
        text = "(%s)" % ", ".join(parts)
        if self.return_annotation is not _empty:
            text += " -> " + formatannotation(self.return_annotation)
        return text

    def __repr__(self):
        return "<Signature %s>" % self


_kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL,
          Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)


def signature(obj, *, follow_wrapped=True):
    skip = ismethod(obj)
    if follow_wrapped:
        obj = unwrap(obj)
    if isinstance(obj, type):
        obj, skip = obj.__init__, True
    elif not isfunction(obj) and not ismethod(obj) and hasattr(type(obj), "__call__"):
        obj, skip = type(obj).__call__, True
    hints = getattr(obj, "__annotations__", {})
    found = [Parameter(name, _kinds[kind], default=default if has else _empty, annotation=hints.get(name, _empty))
             for name, kind, has, default in _support.signature(obj)]
    return Signature(found[1:] if skip else found, return_annotation=hints.get("return", _empty))


class FullArgSpec(tuple):
    args = property(lambda self: self[0])
    varargs = property(lambda self: self[1])
    varkw = property(lambda self: self[2])
    defaults = property(lambda self: self[3])
    kwonlyargs = property(lambda self: self[4])
    kwonlydefaults = property(lambda self: self[5])
    annotations = property(lambda self: self[6])


def getfullargspec(func):
    rows = _support.signature(func)
    defaults = tuple([row[3] for row in rows if row[1] < 2 and row[2]])
    star = [row[0] for row in rows if row[1] == 2]
    double = [row[0] for row in rows if row[1] == 4]
    return FullArgSpec(([row[0] for row in rows if row[1] < 2], star[0] if star else None,
                        double[0] if double else None, defaults or None, [row[0] for row in rows if row[1] == 3],
                        {row[0]: row[3] for row in rows if row[1] == 3 and row[2]} or None,
                        getattr(func, "__annotations__", {})))
