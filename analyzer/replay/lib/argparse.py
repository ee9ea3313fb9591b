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
    def __init__(self, dest, default, required, positional):
        self.dest = dest
        self.default = default
        self.required = required
        self.positional = positional


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
                     **options):
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
        act = _Action(dest, default, required, positional and nargs not in ("?", "*"))
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

    def parse_args(self, args=None, namespace=None):
        result = namespace if namespace is not None else Namespace()
        for act in self._actions:
            value = self._defaults.get(act.dest, act.default)
            if value is None and (act.required or act.positional):
                value = _support.unknown("argument " + act.dest)
            setattr(result, act.dest, value)
        for name, value in self._defaults.items():
            setattr(result, name, value)
        return result

    def parse_known_args(self, args=None, namespace=None):
        return self.parse_args(args, namespace), []

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
