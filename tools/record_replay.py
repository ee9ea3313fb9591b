#!/usr/bin/env python3
"""Records what programs of fixtures/replay print and keep under real PyTorch.

    record_replay.py [--check] [NAME...]

Writes NAME.out and, for programs with a loop, NAME's rows of memory.txt: live bytes, storages,
tensors and nodes at the end of each of its iterations, and the peaks before. Without names it does those of memory.txt.
With --check it compares instead, and ends with status 1 when something differs. To be run by a
Python that has PyTorch, with build/graphlint or $GRAPHLINT built: it says which loop is the main one.
"""

import argparse
import sys

import conformance
from side_by_side import ROOT, SERIES, replay, run_under_torch

# What a program's kernels take for themselves is not modelled, and so its peak is not equal.
NO_PEAK = ("memory_flat", "memory_list", "memory_second", "numpy_arrays", "torch_autocast_scaler", "torch_datasets",
           "torch_distributions", "torch_layer_texts", "torch_pruning", "torch_reparametrized", "torch_rows",
           "torch_transforms", "training_actor_critic", "training_experts", "training_forecast")
FOLDER = ROOT / "fixtures/replay"
TABLE = FOLDER / "memory.txt"


def measured(name):
    """The program's output and its rows."""
    path = FOLDER / (name + ".py")
    ours = replay(path)
    line = ours["loop"]["line"] if isinstance(ours, dict) and ours.get("loop") else 0
    real = run_under_torch(path, line)
    if real["error"]:
        sys.exit("%s: %s" % (name, real["error"]))
    keys = SERIES + ([] if name in NO_PEAK else ["peak_bytes"])
    rows = ["%s %s %s\n" % (name, key, " ".join(map(str, real[key]))) for key in keys if real[key]]
    return real["output"], rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    table = TABLE.read_text(encoding="utf-8").splitlines(keepends=True)
    wrong = 0
    for name in options.names or list(dict.fromkeys(row.split()[0] for row in table)):
        output, rows = measured(name)
        out = FOLDER / (name + ".out")
        known = [row for row in table if row.split()[0] == name]
        if options.check:
            same = known == rows and not conformance.first_difference(out.read_text(encoding="utf-8"), output)
            wrong += not same
            print("%s: %s" % (name, "as recorded" if same else "differs"))
            continue
        out.write_text(output, encoding="utf-8")
        table = [row for row in table if row not in known] + rows
        TABLE.write_text("".join(table), encoding="utf-8")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
