#!/usr/bin/env python3
"""Records what real PyTorch does into fixtures/runtime/, for the tests of runtime/.

    record_runtime.py [--check] [--output FOLDER] [random] [ops]

Runs real PyTorch and writes small JSON files that carry its version, so that the tests need no
PyTorch. With --check nothing is written: what is recorded now is compared with the files, and
under another version than theirs one line says so and the exit status is 0.

  random.json  seeded streams of torch, of Python's random, of torch.nn.init and of the layers
  ops.json     for each op: results, gradients, saved bytes and nodes
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
    return {"random": record_random.record, "ops": record_ops.record}


def lines_of(value, depth):
    """JSON with one line for each element down to `depth` levels."""
    if depth == 0 or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    if isinstance(value, dict):
        inner = [json.dumps(k) + ":" + lines_of(v, depth - 1) for k, v in value.items()]
        return "{" + ",\n".join(inner) + "}"
    return "[" + ",\n".join(lines_of(v, depth - 1) for v in value) + "]"


def document(parts):
    import torch
    header = {"torch": torch.__version__, "python_version": platform.python_version(),
              "vectors": torch.backends.cpu.get_cpu_capability()}
    header.update(parts)
    return lines_of(header, 3) + "\n"


def check(path, text):
    """0 if the file holds `text`, or another version's recording."""
    with open(path, encoding="utf-8") as file:
        kept = file.read()
    if kept == text:
        print("%s: as recorded" % os.path.basename(path))
        return 0
    then, now = json.loads(kept), json.loads(text)
    keys = ("torch", "vectors")
    if any(then[k] != now[k] for k in keys):
        print("%s: skipped, recorded under torch %s (%s), this is %s (%s)" % (
            os.path.basename(path), then["torch"], then["vectors"], now["torch"], now["vectors"]))
        return 0
    if dict(then, python_version="") == dict(now, python_version=""):
        print("%s: as recorded" % os.path.basename(path))
        return 0
    print("%s: differs from what PyTorch does now" % os.path.basename(path))
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", help="random, ops (default: all)")
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
        text = document(known[name]())
        path = os.path.join(args.output, name + ".json")
        if args.check:
            status |= check(path, text)
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print("%s: %d bytes" % (path, len(text)))
    return status


if __name__ == "__main__":
    sys.exit(main())
