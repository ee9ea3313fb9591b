#!/usr/bin/env python3
"""Every layer, function and optimizer of the replay beside PyTorch's.

    conformance_layers.py [--record] [NAME...]

Runs the programs of layer_rows.py (those whose names contain a NAME) under both and prints what
differs: live bytes, storages, tensors and nodes after the forward and the backward pass (of
optimizers, after each of three steps), and the peaks between. --record writes their figures into
fixtures/replay/layers.json, by which the tests know PyTorch's.
"""

import argparse
import json
import multiprocessing.pool
import pathlib
import re
import sys
import tempfile

import torch

import layer_rows
from side_by_side import ROOT, SERIES, last_line, replay, run_under_torch

RECORD = ROOT / "fixtures/replay/layers.json"
LIBRARY = ROOT / "analyzer/replay/lib"
KEYS = SERIES + ["peak_bytes"]
STANDS_IN = "stands_in"

# Of the replay's own: no layer, or the base of some.
NO_LAYERS = {"nn.Buffer", "nn.Module", "nn.Parameter", "nn.UninitializedParameter",
             "nn.NonDynamicallyQuantizableLinear", "optim.Optimizer"}
# Of torch: neither layer nor function of one.
NOT_MEANT = re.compile(r"nn\.(Container|RNNBase|RNNCellBase|Module)$|F\.(assert_|boolean_|handle_|has_torch|.*_with_indices$)"
                       r"|optim\.Optimizer$")


def definitions(module):
    text = (LIBRARY / (module + ".py")).read_text(encoding="utf-8")
    return [name for name in re.findall(r"^(?:class|def) (\w+)", text, re.M) if name[0] != "_"]


def op_names():
    """Names of ops that are functions of torch.nn.functional."""
    for file in (ROOT / "runtime").glob("ops*.def"):
        for names in re.findall(r'^OP\(\w+, "([^"]*)"', file.read_text(encoding="utf-8"), re.M):
            for name in names.split():
                name = name.removeprefix("F.")
                for one in (name, name + "_"):
                    if "." not in one and hasattr(torch.nn.functional, one):
                        yield one


def replays_names():
    names = {"nn." + name for name in definitions("torch.nn") if name[0].isupper()}
    names |= {"F." + name for name in definitions("torch.nn.functional")}
    names |= {"F." + name for name in op_names()}
    names |= {"optim." + name for name in definitions("torch.optim") if name[0].isupper()}
    return names - NO_LAYERS


def torchs_names():
    def kinds(module, base):
        return [n for n in dir(module) if isinstance(getattr(module, n), type) and issubclass(getattr(module, n), base)]

    functional = torch.nn.functional
    names = {"nn." + n for n in kinds(torch.nn, torch.nn.Module)}
    names |= {"optim." + n for n in kinds(torch.optim, torch.optim.Optimizer)}
    names |= {"F." + n for n in dir(functional) if n[0] != "_" and callable(getattr(functional, n))
              and not isinstance(getattr(functional, n), type)
              and (getattr(getattr(functional, n), "__module__", "") or "torch").startswith("torch")}
    return {name for name in names if not NOT_MEANT.match(name)}


def base_name(row):
    return row.split(" ")[0]


def compare(row):
    name, text = row
    line = next(i for i, l in enumerate(text.split("\n"), 1) if l.startswith("for turn"))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layer.py"
        path.write_text(text, encoding="utf-8")
        real = run_under_torch(path, line)
        if real["error"]:
            sys.exit("%s: %s" % (name, last_line(real["error"])))
        ours = [replay(path, numbers) for numbers in (False, True)]
    ours = [one if isinstance(one, dict) else {"error": one, "mode": "exact"} for one in ours]
    result = {"name": name, "program": text, "differs": {}}
    result.update({key: real[key] for key in KEYS})
    if any(one["mode"] != "exact" for one in ours):
        result["differs"][STANDS_IN] = ours[0]["stand_ins"] or ours[1]["stand_ins"]
        return result
    for key in KEYS:
        # With numbers some kernels are composed of others: their peaks are their own.
        for one in ours[:1] if key == "peak_bytes" else ours:
            if one.get("error") or one[key] != real[key]:
                result["differs"][key] = one.get("error") or one[key]
    return result


def compare_all(rows, jobs=2):
    with multiprocessing.pool.ThreadPool(jobs) as pool:
        return list(pool.imap(compare, rows))


def record(results):
    """Writes these, and what was recorded of the others."""
    rows = {row["name"]: row for row in json.loads(RECORD.read_text(encoding="utf-8"))["rows"]}
    for result in results:
        rows[result["name"]] = dict(result, differs=sorted(result["differs"]))
        if STANDS_IN in result["differs"]:
            del rows[result["name"]]
    lines = [json.dumps(rows[name], ensure_ascii=False) for name, _ in layer_rows.ROWS if name in rows]
    RECORD.write_text('{"torch": "%s", "rows": [\n%s\n]}\n' % (torch.__version__, ",\n".join(lines)), encoding="utf-8")


def figures(values):
    return " ".join("{:,}".format(value) for value in values) if isinstance(values, list) else str(values)


def cell(result, key):
    if STANDS_IN in result["differs"]:
        return "–"
    if key in result["differs"]:
        return "%s, PyTorch %s" % (figures(result["differs"][key]), figures(result[key]))
    return "equal"


HEAD = """## Layers, losses and optimizers

A program of a few lines for each layer of `torch.nn`, function of `torch.nn.functional` and optimizer that the replay has
(`tools/layer_rows.py`; the names are those of the replay's own tables), with what PyTorch holds after the forward and after the backward
pass, of optimizers after each of three steps. Compared as above; the peak, in each part, is that of `graphlint memory`. What differs there
is what kernels take while they run: oneDNN's convolutions and LSTMs, whose choice depends on the machine, and what is composed of other
ops (rare losses, distances, an optimizer's first step), whose temporaries here go later or earlier than PyTorch's.

"""


def section(results):
    good = [r for r in results if not r["differs"].keys() - {"peak_bytes"}]
    text = HEAD + "%d programs: %d equal in what is held, %d of them in the peaks, too.\n\n" % (
        len(results), len(good), sum(not r["differs"] for r in good))
    text += "| program | bytes held | live bytes | storages | tensors | nodes | peak |\n|---|---|---|---|---|---|---|\n"
    for r in results:
        note = "; stood in for: " + ", ".join(r["differs"][STANDS_IN][:1]) if STANDS_IN in r["differs"] else ""
        text += "| `%s`%s | %s | %s |\n" % (r["name"], note, figures(r["live_bytes"]), " | ".join(cell(r, k) for k in KEYS))
    lacking = sorted(torchs_names() - replays_names(), key=str.lower)
    text += "\nWhat PyTorch has and the replay stands in for: %s.\n\n" % ", ".join("`%s`" % name for name in lacking)
    return text


def problems(results):
    """Texts: what is no longer as it should be."""
    found = ["%s: %s: %s, PyTorch %s" % (r["name"], key, r["differs"][key], r.get(key))
             for r in results for key in r["differs"] if key not in ("peak_bytes", STANDS_IN)]
    stands_in = {base_name(r["name"]) for r in results if STANDS_IN in r["differs"]}
    had = {base_name(r["name"]) for r in results}
    found += ["%s: has no program in layer_rows.py" % name for name in sorted(replays_names() - had)]
    return found + ["%s: is stood in for" % name for name in sorted(stands_in & replays_names() - layer_rows.STOOD_IN_FOR)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    rows = [row for row in layer_rows.ROWS if not options.names or any(name in row[0] for name in options.names)]
    results = compare_all(rows, options.jobs)
    for result in results:
        if result["differs"]:
            print("%s: %s" % (result["name"], "; ".join("%s %s, PyTorch %s" % (key, value, result.get(key))
                                                         for key, value in result["differs"].items())))
    if options.record:
        record(results)
    if options.names:
        return 0
    found = problems(results)
    print("\n".join(found))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
