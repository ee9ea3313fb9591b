#!/usr/bin/env python3
"""What a program keeps, measured under real PyTorch.

    measure.py PROGRAM LINE

Runs the program with a mark at the end of each iteration of the loop on that
line, and writes one JSON object: per iteration the live bytes (as the CPU
allocator logs them through the profiler), and the storages, tensors and
autograd nodes that a walk from Python finds; and what the program printed.

A mark stands at the end of the body and before each `continue` of the loop,
that is, before the loop variable is bound again. The cycle collector is off:
lifetimes are reference counts.
"""

import ast
import contextlib
import functools
import gc
import io
import json
import os
import sys
import traceback
import types
import warnings

import torch
import torch._dynamo  # optimizers would import it in the middle

MARK = "__mark_of_an_iteration__"
FREED = "seen to be freed"
LOOPS = (ast.For, ast.While, ast.AsyncFor)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Marker(ast.NodeTransformer):
    """Puts marks into one loop."""

    def __init__(self, line):
        self.line = line
        self.found = False
        self.inside = False

    @staticmethod
    def mark(at):
        call = ast.Expr(ast.Call(ast.Name(MARK, ast.Load()), [], []))
        return ast.fix_missing_locations(ast.copy_location(call, at))

    def visit(self, node):
        if isinstance(node, LOOPS):
            return self.loop(node)
        if isinstance(node, SCOPES) and self.inside:
            return node
        if isinstance(node, ast.Continue) and self.inside:
            return [self.mark(node), node]
        return self.generic_visit(node)

    def loop(self, node):
        if self.inside:  # only its else belongs to the loop around it
            node.orelse = [s for one in node.orelse for s in as_list(self.visit(one))]
        elif node.lineno == self.line and not self.found:
            self.found = self.inside = True
            node.body = [s for one in node.body for s in as_list(self.visit(one))]
            node.body.append(self.mark(node.body[-1]))
            self.inside = False
        else:
            self.generic_visit(node)
        return node


def as_list(made):
    return made if isinstance(made, list) else [made]


class Walk:
    """Everything that Python, gradients and graphs reach; made and dropped at once."""

    def __init__(self, reads_saved):
        self.tensors, self.nodes, self.storages = {}, {}, {}
        self.reads_saved = reads_saved
        todo = [o for o in gc.get_objects() if is_tensor(type(o)) or is_node(type(o))]
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while todo:
                one = todo.pop()
                if is_tensor(type(one)):
                    todo += self.of_tensor(one)
                else:
                    todo += self.of_node(one)

    def of_tensor(self, tensor):
        if id(tensor) in self.tensors:
            return []
        self.tensors[id(tensor)] = tensor
        for part in self.parts(tensor):
            with contextlib.suppress(NotImplementedError, RuntimeError):
                storage = part.untyped_storage()
                self.storages[storage._cdata] = storage.nbytes()
        return [o for o in (tensor._grad, tensor._base, tensor.grad_fn) if o is not None]

    def has_renewed(self):
        """Asking a view for its grad_fn makes a new one where the memory has changed; what it had
        before is among the objects yet, and goes with the walk."""
        return any(type(node).__name__ == "AsStridedBackward0" for node in self.nodes.values())

    @staticmethod
    def parts(tensor):
        if tensor.layout is torch.sparse_coo:
            return [tensor._indices(), tensor._values()]
        return [tensor]

    def of_node(self, node):
        if id(node) in self.nodes:
            return []
        self.nodes[id(node)] = node
        found = [n for n, _ in node.next_functions if n is not None]
        if isinstance(getattr(node, "variable", None), torch.Tensor):
            found.append(node.variable)
        return found + (self.saved(node) if self.reads_saved() else self.packed(node))

    @staticmethod
    def packed(node):
        """Of what is saved what no hook has turned into something else."""
        found = []
        for name in dir(type(node)):
            with contextlib.suppress(RuntimeError):
                if name.startswith("_raw_saved_"):
                    found += as_list(getattr(node, name))
        return [raw.data for raw in found if isinstance(getattr(raw, "data", None), torch.Tensor)]

    @staticmethod
    def saved(node):
        found = []
        if node.metadata.get(FREED):
            return found
        for name in saved_names(type(node)):
            try:
                value = getattr(node, name)
            except RuntimeError as error:
                if "second time" in str(error) or "freed" in str(error):
                    node.metadata[FREED] = True  # and so it stays; asking again is slow
                    break
                continue
            values = value if isinstance(value, (list, tuple)) else [value]
            found += [v for v in values if isinstance(v, torch.Tensor)]
        return found


@functools.cache
def is_tensor(kind):
    return issubclass(kind, torch.Tensor)


@functools.cache
def is_node(kind):
    return (not issubclass(kind, type) and hasattr(kind, "next_functions")
            and hasattr(kind, "register_hook"))


@functools.cache
def saved_names(kind):
    return [n for n in dir(kind) if n.startswith("_saved_") or n == "saved_tensors"]


class Meter:
    def __init__(self):
        self.profile = torch.autograd.profiler.profile(use_kineto=True, profile_memory=True)
        self.rows = []
        self.hooked = False
        self.watch_hooks()

    def watch_hooks(self):
        """Reading what a hook packed would run the program's own code."""
        hooks = torch.autograd.graph.saved_tensors_hooks
        enter = hooks.__enter__

        def noticing(this):
            self.hooked = True
            return enter(this)

        hooks.__enter__ = noticing

    def mark(self):
        with torch.profiler.record_function("%s%d" % (MARK, len(self.rows))):
            pass
        walk = Walk(lambda: not self.hooked)
        if walk.has_renewed():
            del walk
            walk = Walk(lambda: not self.hooked)
        self.rows.append((len(walk.storages), len(walk.tensors), len(walk.nodes)))

    def bytes(self):
        """Where the marks are: the sum of what was allocated, and its highest since the last."""
        log = []
        for index, event in enumerate(self.profile.kineto_results.events()):
            if event.name() == "[memory]" and "CPU" in str(event.device_type()):
                log.append((event.start_ns(), 1, index, event.nbytes()))
            elif event.name().startswith(MARK):
                log.append((event.start_ns(), 0, index, None))
        live, most, at, peaks = 0, 0, [], []
        for _, _, _, size in sorted(log, key=lambda row: row[:3]):
            if size is None:
                at.append(live)
                peaks.append(most)
                most = live
            else:
                live += size
                most = max(most, live)
        return at, peaks


def call_main(tree, module):
    """A program that defines main() and never calls it is about main()."""
    called = {n.func.id for n in ast.walk(tree)
              if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    if isinstance(module.__dict__.get("main"), types.FunctionType) and "main" not in called:
        module.main()


def run(path, line):
    """To be called once in a process: the program gets it as its own."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    marker = Marker(line)
    tree = marker.visit(tree)
    meter, printed, error = Meter(), io.StringIO(), None
    module = types.ModuleType("__main__")
    module.__dict__.update({"__file__": path, MARK: meter.mark})
    sys.modules["__main__"] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.argv = [path]
    code = compile(tree, path, "exec")
    gc.disable()
    meter.profile.__enter__()
    gc.freeze()  # what torch itself is made of need not be looked at
    try:
        with contextlib.redirect_stdout(printed):
            exec(code, module.__dict__)
            call_main(tree, module)
    except SystemExit:
        pass
    except BaseException:
        error = traceback.format_exc()
    meter.profile.__exit__(None, None, None)
    live, peaks = meter.bytes()
    return {
        "torch": torch.__version__, "found": marker.found, "error": error,
        "live_bytes": live,
        "peak_bytes": peaks,
        "storages": [r[0] for r in meter.rows],
        "tensors": [r[1] for r in meter.rows],
        "nodes": [r[2] for r in meter.rows],
        "output": printed.getvalue(),
    }


if __name__ == "__main__":
    json.dump(run(sys.argv[1], int(sys.argv[2])), sys.__stdout__)
