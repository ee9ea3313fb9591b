"""Random edits of a real tree: after each, the output with the cache is the output
without it. Usage: cache_edits.py GRAPHLINT FOLDER [EDITS [SEED]]

Edits add, change, delete, move and rename files and folders, change what is
imported, comments and the configuration. Prints "N passed, N failed"."""

import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

LEAK = """
import torch
from torch import nn

def gather(model: nn.Module, batches):
    kept = []
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        kept.append(loss)
    return len(kept)


def main():
    gather(nn.Linear(4, 1), [torch.randn(8, 4) for _ in range(9)])


main()
"""

CONFIGURATIONS = [
    "",
    'ignore = ["GL1"]\n',
    'select = ["GL1"]\nextend-exclude = ["tests/"]\n',
    '[severity]\nGL101 = "info"\n',
    '[per-file-ignores]\n"a*.py" = ["ALL"]\n',
    'confirm = "never"\n',
    'min-confidence = "certain"\nexclude = []\n',
    '[extend-models]\n"torch.nn.functional.mse_loss" = "detaches"\n',
]


class Tree:
    def __init__(self, root, seed):
        self.root = root
        self.random = random.Random(seed)

    def files(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(f for f in folders if not f.startswith("."))
            found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
        return found

    def folders(self):
        return sorted({os.path.dirname(path) for path in self.files()})

    def module(self, path):
        relative = os.path.relpath(path, os.path.dirname(self.root))[: -len(".py")]
        return re.sub(r"(^|\.)__init__$", "", relative.replace(os.sep, "."))

    def pick(self):
        return self.random.choice(self.files())

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)

    def read(self, path):
        with open(path, encoding="utf-8", errors="surrogateescape") as text:
            return text.read()

    def append(self, path, text):
        with open(path, "a", encoding="utf-8") as out:
            out.write(text)

    # edits: each says what it did

    def touch(self):
        path = self.pick()
        os.utime(path)
        return f"touch {path}"

    def add_comment(self):
        path = self.pick()
        self.append(path, "\n# a comment\n")
        return f"comment in {path}"

    def add_leak(self):
        path = self.pick()
        self.append(path, LEAK)
        return f"leak in {path}"

    def add_file(self):
        path = os.path.join(self.random.choice(self.folders()), f"added_{self.random.randrange(99)}.py")
        self.write(path, self.random.choice([LEAK, "", "def f(:\n", f"import {self.module(self.pick())}\n"]))
        return f"new {path}"

    def shadow(self):
        """A module beside the one that others import by the same last name."""
        name = os.path.basename(self.pick())
        path = os.path.join(self.random.choice(self.folders()), name)
        if os.path.exists(path):
            return self.add_comment()
        self.write(path, LEAK)
        return f"shadow {path}"

    def delete(self):
        path = self.pick()
        os.unlink(path)
        return f"delete {path}"

    def rename(self):
        path = self.pick()
        to = os.path.join(os.path.dirname(path), f"renamed_{self.random.randrange(99)}.py")
        os.rename(path, to)
        return f"rename {path} to {to}"

    def move(self):
        path = self.pick()
        to = os.path.join(self.random.choice(self.folders()), os.path.basename(path))
        os.replace(path, to)
        return f"move {path} to {to}"

    def rename_folder(self):
        folder = self.random.choice(self.folders())
        if folder == self.root:
            return self.rename()
        to = folder + "_"
        if os.path.exists(to):
            return self.rename()
        os.rename(folder, to)
        return f"rename {folder} to {to}"

    def change_import(self):
        path = self.pick()
        text = self.read(path)
        lines = text.split("\n")
        places = [i for i, line in enumerate(lines) if re.match(r"(from|import) ", line)]
        if not places:
            return self.add_import()
        del lines[self.random.choice(places)]
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write("\n".join(lines))
        return f"import taken from {path}"

    def add_import(self):
        path, other = self.pick(), self.pick()
        self.append(path, f"\nimport {self.module(other)}\nfrom {self.module(other)} import *\n")
        return f"{path} imports {other}"

    def suppress(self):
        path = self.pick()
        text = self.read(path)
        lines = text.split("\n")
        line = self.random.randrange(len(lines))
        lines[line] += "  # noqa: GL101"
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write("\n".join(lines))
        return f"noqa in {path}:{line + 1}"

    def configure(self):
        folder = self.random.choice([self.root, *self.folders()])
        path = os.path.join(folder, "graphlint.toml")
        if os.path.exists(path) and self.random.random() < 0.3:
            os.unlink(path)
            return f"no configuration in {os.path.relpath(folder, self.root)}"
        self.write(path, self.random.choice(CONFIGURATIONS))
        return f"configuration in {os.path.relpath(folder, self.root)}"

    def gitignore(self):
        self.write(os.path.join(self.root, ".gitignore"), self.random.choice(["", "added_*\n", "tests/\n"]))
        return "gitignore"

    def edit(self):
        edits = [
            self.touch,
            self.add_comment,
            self.add_leak,
            self.add_file,
            self.shadow,
            self.delete,
            self.rename,
            self.move,
            self.rename_folder,
            self.change_import,
            self.add_import,
            self.suppress,
            self.configure,
            self.gitignore,
        ]
        return self.random.choice(edits)()


def lint(program, folder, *options):
    command = [program, "--format", "json", *options, os.path.basename(folder)]
    run = subprocess.run(command, cwd=os.path.dirname(folder), capture_output=True, check=False)
    return run.returncode, run.stdout, run.stderr


def show_difference(cached, fresh):
    print(f"status {cached[0]} with the cache, {fresh[0]} without; {cached[2].decode()}{fresh[2].decode()}")
    lines = [run[1].decode(errors="replace").split("\n") for run in (cached, fresh)]
    for line in list(difflib.unified_diff(*lines, "with", "without", lineterm="", n=12))[:60]:
        print(line)
    sys.stdout.flush()


def main():
    program, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    edits = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        root = os.path.join(scratch, os.path.basename(source))
        shutil.copytree(source, root)
        tree = Tree(root, seed)
        lint(program, root)
        for number in range(edits):
            done = [tree.edit() for _ in range(tree.random.choice([1, 1, 1, 2, 4]))]
            cached, fresh = lint(program, root), lint(program, root, "--no-cache")
            if cached == fresh:
                passed += 1
            else:
                failed += 1
                print(f"edit {number} of seed {seed}: {'; '.join(done)}")
                show_difference(cached, fresh)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
