"""Changes to Python programs that keep their meaning.

A program is {file name: text}. A change gives {new file name: (new text, old file name, rows)} where rows maps
each new row to the old one, or None where it does not apply. A changed program must compile.
"""

import ast
import builtins
import functools
import io
import keyword
import pathlib
import re
import tokenize

TORCH = pathlib.Path(__file__).resolve().parent.parent / "analyzer" / "torch"
DYNAMIC = re.compile(r"\b(getattr|setattr|hasattr|delattr|register_\w+|add_module|vars|__dict__|attrgetter)\b")
DECEPTIVE = ("loss", "detached", "count", "history", "no_grad", "number", "total_loss", "item", "frozen", "model")


def identity_rows(text: str) -> dict[int, int]:
    return {row: row for row in range(1, text.count("\n") + 3)}


def unchanged(files: dict[str, str]) -> dict:
    return {name: (text, name, identity_rows(text)) for name, text in files.items()}


def compiled(version: dict) -> dict:
    for name, (text, _, _) in version.items():
        compile(text, name, "exec")
    return version


def parsed(files: dict[str, str]) -> dict | None:
    try:
        return {name: ast.parse(text) for name, text in files.items()}
    except SyntaxError:
        return None


def each_file(change):
    """Makes a change of one file's text and tree, giving lines and old rows, one of whole programs."""

    def apply(files):
        trees = parsed(files)
        if trees is None:
            return None
        version, differs = {}, False
        for name, text in files.items():
            pairs = change(text.split("\n"), trees[name]) if trees[name].body else None
            differs = differs or pairs is not None
            if pairs is None:
                version[name] = (text, name, identity_rows(text))
                continue
            rows = {number: row for number, (_, row) in enumerate(pairs, 1)}
            version[name] = ("\n".join(line for line, _ in pairs), name, rows)
        return compiled(version) if differs else None

    return apply


# Blank lines and comments.


def first_row(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno] + [decorator.lineno for decorator in decorators])


def add_comments(lines, tree):
    starts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not lines[first_row(node) - 1][: node.col_offset].strip():
            starts.add(first_row(node))
    pairs = []
    for row, line in enumerate(lines, 1):
        if row in starts:
            indent = line[: len(line) - len(line.lstrip())]
            pairs += [("", row), (f"{indent}# row {row}: total += loss; history.append(loss)", row)]
        pairs.append((line, row))
    return pairs


# The order of definitions.


def names_needed(node: ast.stmt) -> set[str]:
    """What a definition reads when it is executed, not when it is called."""
    at_once = list(node.decorator_list)
    if isinstance(node, ast.ClassDef):
        at_once += node.bases + node.keywords + node.body
    else:
        arguments = node.args
        everyone = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
        everyone += [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
        at_once += arguments.defaults + [default for default in arguments.kw_defaults if default]
        at_once += [argument.annotation for argument in everyone if argument.annotation]
        at_once += [node.returns] if node.returns else []
    return {name.id for part in at_once for name in ast.walk(part) if isinstance(name, ast.Name)}


def ordered(run: list) -> list:
    """The run backwards, but each definition after those that it needs."""
    names, result, waiting = {node.name for node in run}, [], run[::-1]
    if len(names) < len(run):
        return run
    while waiting:
        left = {node.name for node in waiting}
        ready = next((node for node in waiting if not names_needed(node) & (left - {node.name})), None)
        if ready is None:
            return run
        waiting.remove(ready)
        result.append(ready)
    return result


def runs_of_definitions(body: list):
    run = []
    for node in body + [None]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            run.append(node)
            continue
        if len(run) > 1:
            yield run
        run = []


def reorder_body(body: list, spans: list) -> None:
    """Adds (first row, last row, [(first, last) in the new order]) for each run that can be reordered."""
    for run in runs_of_definitions(body):
        order = ordered(run)
        if order != run:
            blocks = [(first_row(node), node.end_lineno) for node in order]
            spans.append((first_row(run[0]), run[-1].end_lineno, blocks))


def reorder(lines, tree):
    spans = []
    reorder_body(tree.body, spans)
    if not spans:
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                reorder_body(node.body, spans)
    if not spans:
        return None
    pairs, row = [], 1
    for first, last, blocks in sorted(spans):
        pairs += [(lines[at - 1], at) for at in range(row, first)]
        for start, end in blocks:
            pairs += [(lines[at - 1], at) for at in range(start, end + 1)] + [("", start)]
        row = last + 1
    return pairs + [(lines[at - 1], at) for at in range(row, len(lines) + 1)]


# The script as a function.


def rows_inside_strings(lines: list[str]) -> set[int]:
    rows = set()
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.start[0] != token.end[0] and token.type not in (tokenize.NEWLINE, tokenize.ENDMARKER):
            rows |= set(range(token.start[0] + 1, token.end[0] + 1))
    return rows


def cannot_wrap(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            return True
        if isinstance(node, ast.ImportFrom) and (node.names[0].name == "*" or node.module == "__future__"):
            return True
        if isinstance(node, ast.Name) and node.id in ("globals", "__name__"):
            return True
    return False


def wrap_file(lines, tree):
    body = tree.body
    if ast.get_docstring(tree, clean=False) is not None:
        body = body[1:]
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    if cannot_wrap(tree) or all(isinstance(node, definitions) for node in body):
        return None  # the second is no script: nothing in it would be called
    first = first_row(body[0])
    strings = rows_inside_strings(lines)
    pairs = [(lines[row - 1], row) for row in range(1, first)]
    pairs.append(("def whole_program():", first))
    for row in range(first, len(lines) + 1):
        line = lines[row - 1]
        pairs.append((line if row in strings or not line.strip() else "    " + line, row))
    return pairs + [("", len(lines)), ("whole_program()", len(lines)), ("", len(lines))]


def wrap(files):
    return each_file(wrap_file)(files) if len(files) == 1 else None


# Other names.


@functools.cache
def words_of_torch() -> frozenset[str]:
    words = set()
    for table in TORCH.glob("*.def"):
        words |= set(re.findall(r"[A-Za-z_]\w*", table.read_text(encoding="utf-8")))
    return frozenset(words)


@functools.cache
def words_of_python() -> frozenset[str]:
    words = set(dir(builtins)) | set(keyword.kwlist) | {"self", "cls", "ctx"}
    for kind in (list, dict, set, tuple, str, float, int, io.StringIO, type, BaseException):
        words |= set(dir(kind))
    return frozenset(words)


class Names(ast.NodeVisitor):
    """Which names and attributes a program defines, and which ones come from outside."""

    def __init__(self, modules: set[str]):
        self.modules, self.variables, self.attributes, self.outside = modules, set(), set(), set()
        self.parameters, self.fields, self.classes, self.aliases = {}, {}, [], set()
        self.unknown = False

    def visit_Import(self, node):
        self.aliases |= {alias.asname or alias.name for alias in node.names if alias.name in self.modules}
        self.outside |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}

    def visit_ImportFrom(self, node):
        for alias in node.names:
            if alias.asname or node.level or node.module not in self.modules:
                self.outside |= {alias.name, alias.asname or alias.name}

    def visit_FunctionDef(self, node):
        (self.attributes if self.classes and self.classes[-1] else self.variables).add(node.name)
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        arguments += [argument for argument in (node.args.vararg, node.args.kwarg) if argument]
        self.variables |= {argument.arg for argument in arguments}
        owner = self.classes[-1] if self.classes and node.name == "__init__" else node.name
        self.parameters.setdefault(owner, set()).update(argument.arg for argument in arguments)
        self.classes.append("")
        self.generic_visit(node)
        self.classes.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.variables |= {argument.arg for argument in node.args.posonlyargs + node.args.args + node.args.kwonlyargs}
        self.generic_visit(node)

    def visit_ClassDef(self, node):
        self.variables.add(node.name)
        for field in node.body:
            targets = field.targets if isinstance(field, ast.Assign) else [getattr(field, "target", None)]
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            self.attributes |= names
            self.fields.setdefault(node.name, set()).update(names)
        self.classes.append(node.name)
        self.generic_visit(node)
        self.classes.pop()

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store) and node.id not in self.fields.get(self.classes[-1] if self.classes else "", ()):
            self.variables.add(node.id)

    def visit_Attribute(self, node):
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            self.attributes.add(node.attr)
        self.generic_visit(node)

    def visit_Global(self, node):
        self.outside |= set(node.names)

    visit_Nonlocal = visit_Global

    def visit_ExceptHandler(self, node):
        self.outside |= {node.name} if node.name else set()
        self.generic_visit(node)

    def visit_Match(self, node):
        self.unknown = True


def new_names(words: set[str], taken: set[str], style: str) -> dict[str, str]:
    names = {}
    for number, word in enumerate(sorted(words)):
        if style == "plain":
            new = f"V{number}" if word[:1].isupper() else f"v{number}"
        else:
            new = DECEPTIVE[number % len(DECEPTIVE)] + ("" if number < len(DECEPTIVE) else f"_{number}")
            new = new.capitalize() if word[:1].isupper() else new
        while new in taken:
            new += "_"
        taken.add(new)
        names[word] = new
    return names


class Edits(ast.NodeVisitor):
    """Collects (row, byte column, old name, new name)."""

    def __init__(self, lines, names, variables, attributes):
        self.lines, self.names, self.edits = lines, names, []
        self.variables, self.attributes, self.classes = variables, attributes, [None]

    def edit(self, table, word, row, column):
        if word in table:
            self.edits.append((row, column, word, table[word]))

    def named_after(self, node, table):
        """The name that follows def or class."""
        line = self.lines[node.lineno - 1].encode()
        found = re.compile(rb"\b" + node.name.encode() + rb"\b").search(line, node.col_offset + 3)
        if found:
            self.edit(table, node.name, node.lineno, found.start())

    def visit_FunctionDef(self, node):
        self.named_after(node, self.attributes if self.classes[-1] is not None else self.variables)
        self.classes.append(None)
        self.generic_visit(node)
        self.classes.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.named_after(node, self.variables)
        self.classes.append(self.names.fields.get(node.name, set()))
        self.generic_visit(node)
        self.classes.pop()

    def visit_Name(self, node):
        table = self.attributes if node.id in (self.classes[-1] or ()) else self.variables
        self.edit(table, node.id, node.lineno, node.col_offset)

    def visit_arg(self, node):
        self.edit(self.variables, node.arg, node.lineno, node.col_offset)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        of_module = isinstance(node.value, ast.Name) and node.value.id in self.names.aliases
        table = self.variables if of_module else self.attributes
        self.edit(table, node.attr, node.end_lineno, node.end_col_offset - len(node.attr.encode()))
        self.generic_visit(node)

    def visit_ImportFrom(self, node):
        if node.module in self.names.modules:
            for alias in node.names:
                self.edit(self.variables, alias.name, alias.lineno, alias.col_offset)

    def visit_Call(self, node):
        callee = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        for word in node.keywords:
            if word.arg in self.names.fields.get(callee, ()):
                self.edit(self.attributes, word.arg, word.lineno, word.col_offset)
            elif word.arg in self.names.parameters.get(callee, ()):
                self.edit(self.variables, word.arg, word.lineno, word.col_offset)
        self.generic_visit(node)

    def visit_JoinedStr(self, node):
        """Positions inside are not to be relied on before Python 3.12: found in the text."""
        for row in range(node.lineno, node.end_lineno + 1):
            line = self.lines[row - 1].encode()
            start = node.col_offset if row == node.lineno else 0
            end = node.end_col_offset if row == node.end_lineno else len(line)
            for hole in re.finditer(rb"\{([^{}]*)\}", line[start:end]):
                for word in re.finditer(rb"(\.?)\b([A-Za-z_]\w*)", re.sub(rb"\"[^\"]*\"", lambda m: b" " * len(m[0]), hole[1])):
                    table = self.attributes if word[1] else self.variables
                    at = start + hole.start(1) + word.start(2)
                    self.edit(table, word[2].decode(), row, at)


def edited(text: str, edits: set) -> str:
    lines = text.split("\n")
    for row, column, old, new in sorted(edits, reverse=True):
        line = lines[row - 1].encode()
        end = column + len(old.encode())
        if line[column:end] != old.encode():
            raise AssertionError(f"row {row}: {old} is not at {column}")
        lines[row - 1] = (line[:column] + new.encode() + line[end:]).decode()
    return "\n".join(lines)


def words_in_strings(trees: dict) -> set[str]:
    constants = [node.value for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {word for value in constants if isinstance(value, str) for word in re.findall(r"\w+", value)}


def renamed(style: str):
    def apply(files):
        trees = parsed(files)
        if trees is None:
            return None
        names = Names({name[:-3].replace("/", ".") for name in files})
        for tree in trees.values():
            names.visit(tree)
        if names.unknown:
            return None
        fixed = names.outside | names.modules | words_of_python()
        attributes = names.attributes - words_of_python() - words_of_torch()
        if any(DYNAMIC.search(text) for text in files.values()):
            attributes -= words_in_strings(trees)
        variables = {word for word in names.variables - fixed if not word.startswith("__")}
        taken = {word for text in files.values() for word in re.findall(r"\w+", text)}
        table = new_names(variables, set(taken) - set(variables) | fixed, style)
        members = new_names({word for word in attributes if not word.startswith("__")}, taken | set(table.values()), style)
        version = {}
        for name, text in files.items():
            edits = Edits(text.split("\n"), names, table, members)
            edits.visit(trees[name])
            new_name = f"{style}_name.py" if len(files) == 1 else name
            version[new_name] = (edited(text, set(edits.edits)), name, identity_rows(text))
        return compiled(version)

    return apply


CHANGES = {
    "comments": each_file(add_comments),
    "reordered": each_file(reorder),
    "wrapped": wrap,
    "renamed": renamed("plain"),
    "misnamed": renamed("deceptive"),
}
