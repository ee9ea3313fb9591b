import _support
import sys as _sys

SUPPRESS = "==SUPPRESS=="
OPTIONAL = "?"
ZERO_OR_MORE = "*"
ONE_OR_MORE = "+"
REMAINDER = "..."


class ArgumentError(Exception):
    def __init__(self, argument, message):
        self.argument_name = argument
        self.message = message

    def __str__(self):
        return self.message if self.argument_name is None else "argument %s: %s" % (self.argument_name, self.message)


class ArgumentTypeError(Exception):
    pass


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


class Action:
    def __init__(self, option_strings=(), dest=None, nargs=None, const=None, default=None, type=None, choices=None,
                 required=False, help=None, metavar=None):
        self.option_strings = option_strings
        self.dest = dest
        self.nargs = nargs
        self.const = const
        self.default = default
        self.type = type
        self.choices = choices
        self.required = required
        self.help = help
        self.metavar = metavar

    def _name(self):
        return "/".join(self.option_strings) if self.option_strings else self.metavar or self.dest

    def _converted(self, word):
        if callable(self.type):
            try:
                word = self.type(word)
            except ArgumentTypeError as error:
                raise ArgumentError(self._name(), str(error)) from None
            except (TypeError, ValueError):
                raise ArgumentError(self._name(), "invalid %s value: %r" % (
                    getattr(self.type, "__name__", "value"), word)) from None
        if self.choices is not None and word not in self.choices:
            raise ArgumentError(self._name(), "invalid choice: %r (choose from %s)" % (
                word, ", ".join([repr(choice) for choice in self.choices])))
        return word

    def _values(self, words):
        if self.nargs is None:
            return self._converted(words[0])
        if self.nargs == "?":
            return self._converted(words[0]) if words else self.const if self.option_strings else self.default
        if self.nargs == "*" and not words and not self.option_strings:
            return [] if self.default is None else self.default
        return [self._converted(word) for word in words]


class _Store(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values)


class _StoreConst(Action):
    def __init__(self, option_strings, dest, const=None, default=None, required=False, help=None, metavar=None,
                 **options):
        Action.__init__(self, option_strings, dest, 0, const, default, None, None, required, help)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, self.const)


class _StoreTrue(_StoreConst):
    def __init__(self, option_strings, dest, default=False, **options):
        options["const"] = True
        _StoreConst.__init__(self, option_strings, dest, default=False if default is None else default, **options)


class _StoreFalse(_StoreConst):
    def __init__(self, option_strings, dest, default=True, **options):
        options["const"] = False
        _StoreConst.__init__(self, option_strings, dest, default=True if default is None else default, **options)


class _Append(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest, None) or []), values])


class _Extend(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest, None) or []), *values])


class _AppendConst(_StoreConst):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest, None) or []), self.const])


class _Count(_StoreConst):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, (getattr(namespace, self.dest, None) or 0) + 1)


class _Help(_StoreConst):
    def __call__(self, parser, namespace, values, option_string=None):
        parser.print_help()
        parser.exit()


class _Version(_StoreConst):
    def __init__(self, option_strings, dest, version=None, **options):
        _StoreConst.__init__(self, option_strings, dest, **options)
        self.version = version

    def __call__(self, parser, namespace, values, option_string=None):
        print(self.version.replace("%(prog)s", str(parser.prog)))
        parser.exit()


class BooleanOptionalAction(Action):
    def __init__(self, option_strings, dest, default=None, required=False, help=None, **options):
        names = [*option_strings, *["--no-" + name[2:] for name in option_strings if name.startswith("--")]]
        Action.__init__(self, names, dest, 0, None, default, None, None, required, help)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, not option_string.startswith("--no-"))


class _SubParsersAction(Action):
    def __init__(self, parser, dest, required, **options):
        Action.__init__(self, (), SUPPRESS if dest is None else dest, "A...", required=required)
        self._parser = parser
        self._given_dest = dest
        self.parsers = {}

    @property
    def choices(self):
        return self.parsers

    @choices.setter
    def choices(self, value):
        pass

    def add_parser(self, name, *, aliases=(), help=None, **options):
        options.setdefault("prog", "%s %s" % (self._parser.prog, name))
        made = ArgumentParser(**options)
        for one in (name, *aliases):
            self.parsers[one] = made
        return made


_actions = {None: _Store, "store": _Store, "store_const": _StoreConst, "store_true": _StoreTrue,
            "store_false": _StoreFalse, "append": _Append, "append_const": _AppendConst, "extend": _Extend,
            "count": _Count, "help": _Help, "version": _Version}


class _Container:
    def __init__(self, parser):
        self._parser = parser

    def add_argument(self, *names, **options):
        return self._parser.add_argument(*names, **options)

    def add_mutually_exclusive_group(self, *, required=False):
        return _Exclusive(self._parser, required)

    def add_argument_group(self, *args, **options):
        return _Container(self._parser)

    def set_defaults(self, **options):
        self._parser.set_defaults(**options)


class _Exclusive(_Container):
    def __init__(self, parser, required):
        _Container.__init__(self, parser)
        self.required = required
        self.members = []
        parser._exclusive.append(self)

    def add_argument(self, *names, **options):
        made = self._parser.add_argument(*names, **options)
        self.members.append(made)
        return made


def _negative_number(word):
    return word[:1] == "-" and word[1:].replace(".", "", 1).replace("e-", "", 1).replace("e", "", 1).isdigit()


class ArgumentParser(_Container):
    def __init__(self, prog=None, usage=None, description=None, epilog=None, parents=(), formatter_class=None,
                 prefix_chars="-", fromfile_prefix_chars=None, argument_default=None, conflict_handler="error",
                 add_help=True, allow_abbrev=True, exit_on_error=True):
        self._parser = self
        self._actions = []
        self._defaults = {}
        self._exclusive = []
        self.prog = prog if prog is not None else _sys.argv[0].rsplit("/", 1)[-1]
        self.usage, self.description, self.epilog = usage, description, epilog
        self.formatter_class = formatter_class
        self.argument_default = argument_default
        self.allow_abbrev = allow_abbrev
        self.exit_on_error = exit_on_error
        if add_help:
            self.add_argument("-h", "--help", action="help", default=SUPPRESS)
        for parent in parents:
            self._actions += [act for act in parent._actions if not isinstance(act, _Help)]
            self._defaults.update(parent._defaults)
            self._exclusive += parent._exclusive

    def add_argument(self, *names, action=None, dest=None, **options):
        optional = bool(names) and names[0].startswith("-")
        if dest is None:
            long = [n for n in names if n.startswith("--")]
            dest = (long or names)[0].lstrip("-").replace("-", "_") if optional else names[0]
        make = _actions[action] if action is None or isinstance(action, str) else action
        options.setdefault("default", self.argument_default)
        made = make(option_strings=list(names) if optional else [], dest=dest, **options)
        if not optional:
            made.required = made.nargs not in ("?", "*", REMAINDER)
        self._actions.append(made)
        return made

    def add_subparsers(self, *, dest=None, required=False, **options):
        made = _SubParsersAction(self, dest, required)
        self._actions.append(made)
        return made

    def set_defaults(self, **options):
        self._defaults.update(options)

    def get_default(self, dest):
        for act in self._actions:
            if act.dest == dest and act.default is not None:
                return self._defaults.get(dest, act.default)
        return self._defaults.get(dest)

    def _find(self, word):
        """The option that a word names, and what is written behind it."""
        name, equals, value = word.partition("=")
        for act in self._actions:
            if word in act.option_strings:
                return act, word, None
        for act in self._actions:
            if equals and name in act.option_strings:
                return act, name, value
        if word.startswith("--") and self.allow_abbrev:
            found = [(act, full) for act in self._actions for full in act.option_strings if full.startswith(name)]
            if len(found) == 1:
                return found[0][0], found[0][1], value if equals else None
        if not word.startswith("--"):
            for act in self._actions:
                if word[:2] in act.option_strings:
                    return act, word[:2], word[2:]
        return None, None, None

    def _is_option(self, word):
        if not word.startswith("-") or word == "-":
            return False
        return not _negative_number(word) or any([_negative_number(n) for a in self._actions for n in a.option_strings])

    def _take_option(self, word, words, result):
        act, name, inline = self._find(word)
        if act is None:
            return False
        taken = []
        if act.nargs == 0:
            if inline and not name.startswith("--"):
                words.insert(0, "-" + inline)
            elif inline is not None:
                raise ArgumentError(act._name(), "ignored explicit argument %r" % inline)
        elif inline is not None:
            taken.append(inline)
        else:
            most = 1 if act.nargs in (None, "?") else act.nargs if isinstance(act.nargs, int) else len(words)
            while words and len(taken) < most and (act.nargs == REMAINDER or not self._is_option(words[0])):
                taken.append(words.pop(0))
        if act.nargs is None and not taken:
            raise ArgumentError(act._name(), "expected one argument")
        if act.nargs == "+" and not taken:
            raise ArgumentError(act._name(), "expected at least one argument")
        if isinstance(act.nargs, int) and act.nargs and len(taken) != act.nargs:
            raise ArgumentError(act._name(), "expected %d argument%s" % (act.nargs, "" if act.nargs == 1 else "s"))
        act(self, result, [] if act.nargs == 0 else act._values(taken), name)
        self._seen.append(act)
        return True

    def _take_subcommand(self, act, words, result):
        word = words.pop(0)
        if word not in act.parsers:
            raise ArgumentError(act._given_dest, "invalid choice: %r (choose from %s)" % (
                word, ", ".join([repr(name) for name in act.parsers])))
        if act._given_dest is not None:
            setattr(result, act._given_dest, word)
        inner, rest = act.parsers[word].parse_known_args(words)
        for name, value in vars(inner).items():
            setattr(result, name, value)
        words.clear()
        self._seen.append(act)
        return rest

    def _place_words(self, places, loose, result):
        """Words that are no options, in order; what they are for takes as many as it must."""
        for at, act in enumerate(places):
            needed = sum([1 if a.nargs in (None, "+") else a.nargs if isinstance(a.nargs, int) else 0
                          for a in places[at + 1:]])
            free = max(len(loose) - needed, 0)
            most = 1 if act.nargs in (None, "?") else act.nargs if isinstance(act.nargs, int) else free
            least = 1 if act.nargs in (None, "+") else act.nargs if isinstance(act.nargs, int) else 0
            taken = loose[:min(most, free)]
            if len(taken) < least:
                continue
            del loose[:len(taken)]
            if not taken and act.nargs in ("?", "*") and act.default is SUPPRESS:
                continue
            act(self, result, act._values(taken))
            self._seen.append(act)
        return loose

    def _given(self, result, args):
        words, rest, loose = list(args), [], []
        places = [act for act in self._actions if not act.option_strings]
        commands = [act for act in places if isinstance(act, _SubParsersAction)]
        places = [act for act in places if act not in commands]
        self._seen = []
        while words:
            word = words.pop(0)
            if word == "--":
                loose += words
                words = []
            elif self._is_option(word):
                if not self._take_option(word, words, result):
                    rest.append(word)
            elif commands and len(loose) >= len(places):
                words.insert(0, word)
                rest += self._take_subcommand(commands[0], words, result)
            else:
                loose.append(word)
        return rest + self._place_words(places, loose, result)

    def _check(self):
        missing = [act._name() if not isinstance(act, _SubParsersAction) else act._given_dest or "command"
                   for act in self._actions if act.required and act not in self._seen]
        if missing:
            self.error("the following arguments are required: %s" % ", ".join(missing))
        for group in self._exclusive:
            given = [act for act in group.members if act in self._seen]
            if len(given) > 1:
                self.error("argument %s: not allowed with argument %s" % (given[1]._name(), given[0]._name()))
            if group.required and not given:
                self.error("one of the arguments %s is required"
                           % " ".join([act._name() for act in group.members]))

    def parse_args(self, args=None, namespace=None):
        result, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error("unrecognized arguments: %s" % " ".join([str(word) for word in rest]))
        return result

    def parse_known_args(self, args=None, namespace=None):
        # How the program would be called is not known: what it has to be given is made up.
        asked = args is not None and not _support.is_unknown(args)
        given = [str(word) for word in args] if asked else []
        result = namespace if namespace is not None else Namespace()
        for act in self._actions:
            value = self._defaults.get(act.dest, act.default)
            if act.dest is SUPPRESS or value is SUPPRESS or hasattr(result, act.dest):
                continue
            if not asked and act.required and value is None:
                value = _support.unknown("argument " + act.dest)
            elif isinstance(value, str) and callable(act.type):
                value = act._converted(value) if act.choices is None else act.type(value)
            setattr(result, act.dest, value)
        for name, value in self._defaults.items():
            if not hasattr(result, name):
                setattr(result, name, value)
        if not asked:
            return result, []
        try:
            rest = self._given(result, given)
        except ArgumentError as error:
            if not self.exit_on_error:
                raise
            self.error(str(error))
        self._check()
        return result, rest

    parse_intermixed_args = parse_args
    parse_known_intermixed_args = parse_known_args

    def format_usage(self):
        return "usage: %s [-h]\n" % self.prog

    def format_help(self):
        return self.format_usage()

    def print_help(self, file=None):
        pass

    def print_usage(self, file=None):
        pass

    def exit(self, status=0, message=None):
        raise SystemExit(status)

    def error(self, message):
        raise SystemExit(2)


class HelpFormatter:
    def __init__(self, prog="", indent_increment=2, max_help_position=24, width=None):
        pass


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    pass


class RawTextHelpFormatter(HelpFormatter):
    pass


class RawDescriptionHelpFormatter(HelpFormatter):
    pass


class MetavarTypeHelpFormatter(HelpFormatter):
    pass


class FileType:
    def __init__(self, mode="r", **options):
        pass

    def __call__(self, name):
        return _support.unknown("file")
