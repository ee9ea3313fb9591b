"""A program under the replay, and under real PyTorch."""

import json
import multiprocessing
import os
import pathlib
import subprocess

import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
SERIES = ["live_bytes", "storages", "tensors", "nodes"]


def replay(path, numbers=True):
    """The replay as JSON, with numbers to the program's end; a text: why there is none."""
    program = os.environ.get("GRAPHLINT", str(ROOT / "build/graphlint"))
    done = subprocess.run([program, "replay", "--format", "json"] + ["--output"] * numbers + [str(path)],
                          capture_output=True, text=True, timeout=300, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return done.stderr.strip() or "no JSON"


def run_child(path, line, pipe):
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    pipe.send(measure.run(str(path), line))
    pipe.close()
    os._exit(0)


def run_under_torch(path, line, seconds=300):
    """In a fork, so that PyTorch is imported once."""
    here, there = multiprocessing.Pipe(False)
    child = multiprocessing.get_context("fork").Process(target=run_child, args=(path, line, there))
    child.start()
    there.close()
    try:
        result = here.recv() if here.poll(seconds) else None
    except EOFError:
        result = None
    child.kill()
    child.join()
    return result or {"error": "it did not end, or crashed"}


def last_line(error):
    return error.strip().split("\n")[-1]
