#!/usr/bin/env python3
"""Records what real PyTorch does into fixtures/runtime/, for the tests of runtime/.

    record_runtime.py [--check] [--output FOLDER] [random] [ops] [programs]

Runs real PyTorch and writes small JSON files that carry its version, so that the tests need no
PyTorch. With --check nothing is written: what is recorded now is compared with the files, and
under another version than theirs one line says so and the exit status is 0.

  random.json    seeded streams of torch, of Python's random, of torch.nn.init and of the layers
  ops.json       for each op: results, gradients, saved bytes and nodes
  programs.json  training programs: live bytes and nodes at the end of each iteration
"""

import argparse
import json
import os
import platform
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                      "fixtures", "runtime")


def recorders():
    import record_random
    import record_ops
    import record_programs
    return {"random": record_random.record, "ops": record_ops.record,
            "programs": record_programs.record}


def lines_of(value, depth):
    """JSON with one line for each element down to `depth` levels."""
    if depth == 0 or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    if isinstance(value, dict):
        inner = [json.dumps(k) + ":" + lines_of(v, depth - 1) for k, v in value.items()]
        return "{" + ",\n".join(inner) + "}"
    return "[" + ",\n".join(lines_of(v, depth - 1) for v in value) + "]"


def header():
    import torch
    return {"torch": torch.__version__, "python_version": platform.python_version(),
            "vectors": torch.backends.cpu.get_cpu_capability()}


def document(parts):
    return lines_of(dict(header(), **parts), 3) + "\n"


def versions(name, of):
    """What must be the same for recordings to be: numbers depend on the vector unit, too."""
    return [of["torch"]] + ([] if name == "programs" else [of["vectors"]])


def check(name, path, record):
    """0 if the file holds what `record` gives, or another version's recording."""
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    now = header()
    if versions(name, kept) != versions(name, now):
        print("%s.json: skipped, recorded under torch %s, this is %s" % (
            name, " ".join(versions(name, kept)), " ".join(versions(name, now))))
        return 0
    now = json.loads(document(record()))
    for key in header():
        kept.pop(key)
        now.pop(key)
    print("%s.json: %s" % (
        name, "as recorded" if kept == now else "differs from what PyTorch does now"))
    return int(kept != now)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", help="random, ops, programs (default: all)")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--output", default=FOLDER, help="folder of the JSON files")
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("skipped: no PyTorch here")
        return 0 if args.check else 2
    torch.set_num_threads(1)
    known = recorders()
    status = 0
    for name in args.what or sorted(known):
        if name not in known:
            parser.error("unknown recording: %s" % name)
        path = os.path.join(args.output, name + ".json")
        if args.check:
            status |= check(name, path, known[name])
            continue
        text = document(known[name]())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print("%s: %d bytes" % (path, len(text)))
    return status


if __name__ == "__main__":
    sys.exit(main())
