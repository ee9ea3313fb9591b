#!/usr/bin/env python3
"""Replays programs and runs them under real PyTorch, and compares.

    conformance.py [--write FILE] [--jobs N] [FILE or FOLDER...]

Per program: live bytes, storages, tensors and autograd nodes at the end of every
iteration of its main loop must be equal, and so must what it prints (numbers with
a point to 1e-4). Without operands it takes the project's own programs and those
of conformance_layers.py; with --write it leaves the tables in FILE. To be run by a Python that has PyTorch, with
build/graphlint or $GRAPHLINT built. Exit status 1 when something differs.
"""

import argparse
import multiprocessing.pool
import pathlib
import re
import sys

import conformance_layers
import layer_rows
from side_by_side import ROOT, SERIES, last_line, replay, run_under_torch

OWN = ["fixtures/tour", "fixtures/replay", "fixtures"]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

HEAD = """# Conformance

What `graphlint replay` says beside what PyTorch %s does on a CPU, made by
`tools/conformance.py --write docs/conformance.md`. Every program runs unmodified and to its end under both. Compared are, at the
end of every iteration of the main loop, the live bytes (PyTorch's are its allocator's own log), the storages, the tensors and
the autograd nodes; all must be equal. So must what the program prints: text, integers and shapes exactly, numbers with
a point to 1e-4. The verdicts are functions of the series, so equal series give equal verdicts.

"""


def same_number(got, want):
    if "." not in want or "." not in got:
        return got == want
    return abs(float(got) - float(want)) <= 1e-4 * max(1, abs(float(want)))


def first_difference(got, want):
    """Of two texts: None, or the number of the first line that differs."""
    got, want = got.split("\n"), want.split("\n")
    for row, (a, b) in enumerate(zip(got, want), 1):
        numbers = NUMBER.findall(a), NUMBER.findall(b)
        if NUMBER.sub("#", a) != NUMBER.sub("#", b) or not all(map(same_number, *numbers)):
            return "line %d: `%s`, PyTorch `%s`" % (row, a.strip(), b.strip())
    return None if len(got) == len(want) else "%d lines, PyTorch %d" % (len(got), len(want))


def series_difference(got, want):
    for step, (a, b) in enumerate(zip(got, want), 1):
        if a != b:
            return "step %d: %d, PyTorch %d" % (step, a, b)
    return None if len(got) == len(want) else "%d steps, PyTorch %d" % (len(got), len(want))


def compare(path):
    """A row of the table; `left_out` when there is nothing to compare."""
    row = {"name": name_of(path), "differs": {}}
    ours = replay(path)
    if isinstance(ours, str):
        ours = {"error": ours, "loop": None, "iterations": 0}
    line = ours["loop"]["line"] if ours.get("loop") else 0
    real = run_under_torch(path, line)
    row["torch"] = real.get("torch")
    if real["error"]:
        row["left_out"] = last_line(real["error"])
        return row
    if ours["error"]:
        row["differs"]["error"] = last_line(ours["error"])
    if not real["live_bytes"] and not real["output"]:
        row["left_out"] = "it neither loops nor prints"
        return row
    for key in SERIES:
        difference = series_difference(ours.get(key, []), real[key])
        if difference:
            row["differs"][key] = difference
    difference = first_difference(ours.get("output", ""), real["output"])
    if difference:
        row["differs"]["output"] = difference
    row.update(steps=ours["iterations"], mode=ours.get("mode"), prints=bool(real["output"]),
               verdict=ours["verdict"]["kind"] if line else "",
               nodes_verdict=ours["nodes_verdict"]["kind"] if line else "")
    if row["mode"] != "exact":
        row["differs"]["mode"] = "stands in for " + ", ".join(ours.get("stand_ins", []))
    return row


def name_of(path):
    path = pathlib.Path(path).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def programs(operands):
    """Files, and of a folder the programs that it holds."""
    found = []
    for operand in operands or [ROOT / own for own in OWN]:
        path = pathlib.Path(operand)
        if path.is_file():
            found.append(path)
        elif not operands and path.name == "fixtures":
            found += sorted(path.glob("*/bad.py")) + sorted(path.glob("*/good.py"))
        else:
            found += sorted(path.glob("*.py"))
    return list(dict.fromkeys(found))


def table(rows):
    lines = ["| program | steps | bytes | nodes | %s | prints |" % " | ".join(
        ["live bytes", "storages", "tensors", "nodes"]), "|---|---:|---|---|---|---|---|---|---|"]
    for row in rows:
        cells = [row["differs"].get(key, "equal" if row["steps"] else "–") for key in SERIES]
        cells.append(row["differs"].get("output", "equal" if row["prints"] else "–"))
        notes = [row["differs"][key] for key in ("error", "mode") if key in row["differs"]]
        name = "`%s`%s" % (row["name"], "".join("; " + note for note in notes))
        lines.append("| %s |" % " | ".join(
            [name, str(row["steps"]), row["verdict"], row["nodes_verdict"]] + cells))
    return "\n".join(lines) + "\n"


def write(file, rows, left_out, layers):
    versions = sorted({row["torch"] for row in rows})
    text = HEAD % ", ".join(versions)
    own = [row for row in rows if "/" in row["name"]]
    other = [row for row in rows if row not in own]
    for title, part in [("The project's own programs", own), ("Programs that are kept elsewhere", other)]:
        if part:
            text += "## %s\n\n%d, of which %d are equal in everything.\n\n" % (
                title, len(part), sum(not row["differs"] for row in part))
            text += table(part) + "\n"
    text += conformance_layers.section(layers)
    if left_out:
        text += "Not compared, because PyTorch does not run them:\n\n"
        text += "".join("* `%s`: %s\n" % (row["name"], row["left_out"]) for row in left_out)
    pathlib.Path(file).write_text(text, encoding="utf-8")


# Not equal yet; one that has become equal fails until it is taken out.
KNOWN_TO_DIFFER = ()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("operands", nargs="*", metavar="FILE or FOLDER")
    options = parser.parse_args()
    paths = programs(options.operands)
    with multiprocessing.pool.ThreadPool(options.jobs) as pool:
        rows = list(pool.imap(compare, paths))
    left_out = [row for row in rows if "left_out" in row]
    rows = [row for row in rows if "left_out" not in row]
    for row in rows:
        for what, difference in row["differs"].items():
            print("%s: %s: %s" % (row["name"], what, difference))
    for row in left_out:
        print("%s: not compared: %s" % (row["name"], row["left_out"]))
    layers = []
    if options.write or not options.operands:
        layers = conformance_layers.compare_all(layer_rows.ROWS, options.jobs)
    if options.write:
        write(options.write, rows, left_out, layers)
    equal = sum(not row["differs"] for row in rows)
    known = [row for row in rows if row["name"] in KNOWN_TO_DIFFER]
    stale = [row["name"] for row in known if not row["differs"]]
    for name in stale:
        print("%s: is equal now: take it out of KNOWN_TO_DIFFER" % name)
    known = len(known) - len(stale)
    wrong = len(rows) - equal - known + len(stale)
    if layers:
        found = conformance_layers.problems(layers)
        print("".join(text + "\n" for text in found), end="")
        equal, wrong = equal + len(layers) - len(found), wrong + len(found)
    print("%d passed, %d failed, %d skipped: known to differ" % (equal - len(stale), wrong, known))
    return 0 if equal and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
