import _support


class Namespace:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __contains__(self, key):
        return key in self.__dict__

    def __eq__(self, other):
        return isinstance(other, Namespace) and vars(self) == vars(other)

    def __repr__(self):
        return "Namespace(%s)" % ", ".join("%s=%r" % pair for pair in self.__dict__.items())


class _Action:
    def __init__(self, dest, default, required, positional, names, action, nargs, type, const):
        self.dest = dest
        self.default = default
        self.required = required
        self.positional = positional
        self.names = names
        self.action = action
        self.nargs = nargs
        self.type = type
        self.const = const

    def takes(self):
        return self.action not in ("store_true", "store_false", "store_const", "count", "help", "version")

    def converted(self, word):
        return self.type(word) if callable(self.type) else word

    def put(self, result, words):
        if self.action == "store_true":
            value = True
        elif self.action == "store_false":
            value = False
        elif self.action == "store_const":
            value = self.const
        elif self.action == "count":
            value = (getattr(result, self.dest) or 0) + 1
        elif self.action == "append":
            value = [*(getattr(result, self.dest) or []), self.converted(words[0])]
        elif self.nargs in (None, "?"):
            value = self.converted(words[0]) if words else self.const
        else:
            value = [self.converted(word) for word in words]
        setattr(result, self.dest, value)


class _Group:
    def __init__(self, parser):
        self._parser = parser

    def add_argument(self, *names, **options):
        return self._parser.add_argument(*names, **options)

    def add_mutually_exclusive_group(self, **options):
        return self

    def add_argument_group(self, *args, **options):
        return self


class ArgumentParser:
    def __init__(self, *args, **options):
        self._actions = []
        self._defaults = {}

    def add_argument(self, *names, action=None, default=None, type=None, dest=None, nargs=None, required=False,
                     const=None, **options):
        positional = not names[0].startswith("-") if names else dest is None
        if dest is None:
            long = [n for n in names if n.startswith("--")]
            dest = (long or names)[0].lstrip("-").replace("-", "_")
        if action == "store_true" and default is None:
            default = False
        elif action == "store_false" and default is None:
            default = True
        elif action == "count" and default is None:
            default = None
        if isinstance(default, str) and callable(type):
            default = type(default)
        act = _Action(dest, default, required, positional and nargs not in ("?", "*"), names, action, nargs, type,
                      const)
        self._actions.append(act)
        return act

    def add_argument_group(self, *args, **options):
        return _Group(self)

    def add_mutually_exclusive_group(self, **options):
        return _Group(self)

    def add_subparsers(self, **options):
        return _support.unknown("subcommands")

    def set_defaults(self, **options):
        self._defaults.update(options)

    def get_default(self, dest):
        for act in self._actions:
            if act.dest == dest:
                return self._defaults.get(dest, act.default)

    def _given(self, result, args):
        words, rest = list(args), []
        places = [act for act in self._actions if act.names and not act.names[0].startswith("-")]
        while words:
            word = words.pop(0)
            name, equals, inline = word.partition("=")
            act = None
            for a in self._actions:
                if name in a.names and name.startswith("-"):
                    act = a
            if act is None and not word.startswith("-") and places:
                act = places.pop(0)
                words.insert(0, word)
            elif act is None:
                rest.append(word)
                continue
            taken = [inline] if equals and act.names[0].startswith("-") else []
            most = act.nargs if isinstance(act.nargs, int) else 1 if act.nargs in (None, "?") else len(words)
            while act.takes() and words and len(taken) < most and not words[0].startswith("--"):
                taken.append(words.pop(0))
            act.put(result, taken)
        return rest

    def parse_args(self, args=None, namespace=None):
        return self.parse_known_args(args, namespace)[0]

    def parse_known_args(self, args=None, namespace=None):
        given = list(args) if args and not _support.is_unknown(args) else []
        result = namespace if namespace is not None else Namespace()
        for act in self._actions:
            value = self._defaults.get(act.dest, act.default)
            if value is None and not given and (act.required or act.positional):
                value = _support.unknown("argument " + act.dest)
            setattr(result, act.dest, value)
        for name, value in self._defaults.items():
            setattr(result, name, value)
        return result, self._given(result, given)

    def print_help(self, file=None):
        pass

    def print_usage(self, file=None):
        pass

    def error(self, message):
        raise SystemExit(2)


class ArgumentDefaultsHelpFormatter:
    pass


class RawTextHelpFormatter:
    pass


class RawDescriptionHelpFormatter:
    pass


class BooleanOptionalAction:
    pass


class ArgumentTypeError(Exception):
    pass


SUPPRESS = "==SUPPRESS=="
