#!/usr/bin/env python3
"""Records what CPython prints for each snippet of fixtures/replay/python.

A snippet starts at a line `# --- name` of NAME.py; its output stands under the same line
of NAME.out. Each runs by itself. Usage: record_python.py [--check] [--run COMMAND]

--check   compares with what is recorded and writes nothing
--run     runs COMMAND FILE for each snippet, and shows where its output differs
"""

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "replay" / "python"
VERSION = (3, 11)
MARK = "# --- "


def sections(text):
    """The (name, body) pairs of a file."""
    name, body = None, []
    for line in text.splitlines(keepends=True):
        if line.startswith(MARK):
            if name is not None:
                yield name, "".join(body)
            name, body = line[len(MARK) :].strip(), []
        else:
            body.append(line)
    if name is not None:
        yield name, "".join(body)


def run(command, body):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "snippet.py"
        path.write_text(body)
        done = subprocess.run(
            [*command, str(path)], check=False, capture_output=True, text=True, cwd=folder, timeout=60
        )
    return done.stdout, done.stderr, done.returncode


def record(path):
    """The text of NAME.out."""
    parts = []
    for name, body in sections(path.read_text()):
        output, errors, status = run([sys.executable, "-W", "ignore"], body)
        if status:
            sys.exit(f"{path.name}: {name}: {errors}")
        parts.append(f"{MARK}{name}\n{output}")
    return "".join(parts)


def compare(command, path):
    """The number of snippets, and of those that the command prints otherwise."""
    want = dict(sections(path.with_suffix(".out").read_text()))
    differ = 0
    for name, body in sections(path.read_text()):
        output, errors, _ = run(command, body)
        if output != want[name]:
            differ += 1
            print(f"--- {path.name}: {name}\n{output}should be\n{want[name]}{errors}")
    return len(want), differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--run", type=shlex.split)
    options = parser.parse_args()
    count = wrong = 0
    if not options.run and sys.version_info[:2] != VERSION:
        sys.exit("recorded with CPython %d.%d" % VERSION)
    for path in sorted(FOLDER.glob("*.py")):
        if options.run:
            some, differ = compare(options.run, path)
            count, wrong = count + some, wrong + differ
            continue
        text = record(path)
        out = path.with_suffix(".out")
        count += 1
        if options.check:
            same = out.exists() and out.read_text() == text
            wrong += not same
            print(f"{path.name}: {'as recorded' if same else 'differs'}")
        else:
            out.write_text(text)
    print(f"{count - wrong} passed, {wrong} failed")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
