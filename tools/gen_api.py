#!/usr/bin/env python3
"""Writes and checks the measured rows of analyzer/torch/ by running PyTorch.

usage: tools/gen_api.py            write api_measured.def, classes_measured.def, aliases_measured.def
       tools/gen_api.py --check    fail when they differ, or when a hand-written row is contradicted
       tools/gen_api.py --sort     sort the hand-written tables
       tools/gen_api.py --unknown  list the public names that no row describes

Needs PyTorch 2.13 with numpy and expecttest (PyTorch's own operator samples use it).
"""

import argparse
import inspect
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import api_rows  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "analyzer" / "torch"
HAND = ("api.def", "python.def", "frameworks.def")
SORTED = HAND + ("classes.def", "aliases.def", "results.def", "hooks.def")
VERSION = "2.13"


def measure_operators(rows, seen, flags):
    import api_observe
    import api_samples

    scalars = {}
    for name, call, sample, extra in api_samples.operators():
        args = (sample.input, *sample.args)
        try:
            found = api_observe.observe(call, args, sample.kwargs)
        except Exception:
            continue
        if name in seen and any(t.is_complex() for t in api_observe.tensors_in(args)):
            found.saves = frozenset()
        seen.setdefault(name, []).append(found)
        flags.setdefault(name, set()).update(extra)
        if len(seen[name]) == 1:
            flags[name] |= keyword_flags(call, args, sample.kwargs) | scalar_flag(call)
        if not sample.kwargs and all(is_plural(a) for a in args):
            scalars.setdefault(name, []).append(found.scalar)
    for name, found in scalars.items():
        if all(found):
            flags[name].add("API_SCALAR")


def keyword_flags(call, args, kwargs):
    """Flags found by adding a keyword to a call that works."""
    import torch

    import api_samples

    found = set()
    given = lambda *a, **k: call(*a, **{**kwargs, **k})  # noqa: E731

    def is_integer(result):
        return isinstance(result, torch.Tensor) and result.dtype == torch.int64

    def is_leaf(result):
        return isinstance(result, torch.Tensor) and result.requires_grad and result.is_leaf

    floats = [a for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()]
    if floats and api_samples.takes_keyword(given, args, "dtype", torch.int64, is_integer):
        found.add("API_DTYPE")
    if not floats and api_samples.takes_keyword(given, args, "requires_grad", True, is_leaf):
        found.add("API_LEAF")
    same = lambda result: result is args[0]  # noqa: E731
    if floats and api_samples.takes_keyword(given, args, "training", False, same):
        found.add("API_EVAL_SAME")
    return found


def is_plural(value):
    import torch

    return isinstance(value, torch.Tensor) and value.numel() > 1


def scalar_flag(call):
    """Does it give one number of a matrix, or of two?"""
    import torch

    matrix, classes = torch.rand(2, 3), torch.tensor([0, 1])
    for given in ((matrix,), (matrix, matrix.clone()), (matrix, classes)):
        try:
            result = call(*given)
        except Exception:
            continue
        if isinstance(result, torch.Tensor) and result.dim() == 0:
            return {"API_SCALAR"}
    return set()


def measure_guesses(names, seen, flags):
    """Functions and methods that PyTorch's samples do not cover."""
    import torch

    import api_samples

    for name, value in sorted(names.objects.items()):
        if name in seen or inspect.isclass(value) or not api_samples.is_safe(name):
            continue
        if name.split(".")[1] in ("distributed", "ao", "quantization", "jit", "onnx", "export"):
            continue
        try_one(name, value, False, seen, flags)
    for member in sorted(dir(torch.Tensor)):
        name = f"torch.Tensor.{member}"
        value = getattr(torch.Tensor, member, None)
        if name in seen or not callable(value) or inspect.isclass(value):
            continue
        if api_samples.is_safe(name):
            try_one(name, value, True, seen, flags)


def try_one(name, value, method, seen, flags):
    import api_samples

    found = api_samples.try_guesses(value, method)
    if not found:
        return
    seen[name] = found
    flags[name] = api_samples.inplace_keyword(value)
    for args in api_samples.guesses():
        flags[name] |= keyword_flags(value, args, {})


def measure_recipes(seen, flags):
    """Functions that need arguments of their own."""
    import api_observe
    import api_recipes
    import api_samples

    for name, given in api_recipes.functions().items():
        call = api_samples.resolve(name)
        for args in given if isinstance(given, list) else [given]:
            try:
                found = api_observe.observe(call, args)
            except Exception as problem:
                print(f"{name}: {problem}", file=sys.stderr)
                continue
            seen.setdefault(name, []).append(found)
            flags.setdefault(name, set())


def measure_distributions(names, rows):
    """Which methods and attributes of distributions carry the parameters' graphs."""
    import api_recipes

    for made in api_recipes.distributions():
        owner = names.canonical[id(type(made))]
        for member in api_recipes.DISTRIBUTION_METHODS:
            add_distribution(rows, owner, member, made, lambda m=member: getattr(made, m)(), ())
        for member in api_recipes.DISTRIBUTION_OF_VALUE:
            value = made.sample()
            call = lambda m=member, v=value: getattr(made, m)(v)  # noqa: E731
            add_distribution(rows, owner, member, made, call, ())
        for member in api_recipes.DISTRIBUTION_ATTRIBUTES:
            call = lambda m=member: getattr(made, m)  # noqa: E731
            add_distribution(rows, owner, member, made, call, ("API_PROPERTY",))


def add_distribution(rows, owner, member, made, call, flags):
    import torch

    import api_observe

    try:
        result = call()
    except Exception:
        return
    if not isinstance(result, torch.Tensor):
        return
    effect = "PASSES" if result.requires_grad else "CUTS"
    if not flags and api_observe.saves_anything(result):
        flags = ("API_SAVES_HIDDEN",)
    row = api_rows.Row(f"{owner}.{member}", effect, "TENSOR", 0, flags)
    rows[row.name] = row


def measure_properties(rows):
    """Attributes of a tensor that are read, not called."""
    import torch

    import api_observe

    for member in sorted(dir(torch.Tensor)):
        value = inspect.getattr_static(torch.Tensor, member)
        if callable(value) or member.startswith("__"):
            continue
        name = f"torch.Tensor.{member}"
        try:
            seen = api_observe.observe(lambda t, m=member: getattr(t, m), (torch.rand(3, 3, requires_grad=True),))
        except Exception:
            continue
        row = api_rows.merge(name, [seen], ("API_PROPERTY",))
        if row is not None:
            rows[name] = row


def is_same_in_eval(module, args, kwargs):
    module.eval()
    try:
        return module(*args, **kwargs) is args[0]
    except Exception:
        return False


def measure_modules(names, rows):
    """Constructors of modules, and what calling one gives."""
    import api_observe
    import api_recipes
    import api_samples

    runs = [(type(m), m, args, {}) for m, args in api_recipes.modules()]
    for cls, module, given in api_samples.module_runs():
        runs.append((cls, module, given.args, given.kwargs))
    seen, weights, same = {}, {}, {}
    for cls, module, args, kwargs in runs:
        name = names.canonical.get(id(cls))
        if name is None:
            continue
        try:
            found = api_observe.observe(module, args, kwargs)
        except Exception:
            continue
        seen.setdefault(name, []).append(found)
        weights[name] = weights.get(name, False) or any(True for _ in module.parameters())
        same.setdefault(name, []).append(is_same_in_eval(module, args, kwargs))
    for name, found in seen.items():
        extra = {"API_ARG(1)"} | ({"API_WEIGHTS"} if weights[name] else set())
        if any(s.scalar for s in found):
            extra.add("API_SCALAR")
        if all(same[name]) and not all(s.same for s in found):
            extra.add("API_EVAL_SAME")
        if "inplace" in inspect.signature(names.objects[name]).parameters:
            extra.add("API_INPLACE")
        row = api_rows.merge(f"{name}.__call__", found, extra)
        if row is not None:
            rows[row.name] = row
    return weights


def measure_classes(names, rows, weights):
    """A constructor row and a class row for every class."""
    classes = {}
    for name, cls in names.classes().items():
        effect, kind = class_of(cls)
        classes[name] = (names.base(cls), kind)
        flags = ("API_WEIGHTS",) if weights.get(name) else ()
        rows.setdefault(name, api_rows.Row(name, effect, kind, 0, flags))
        if name.startswith("torch.return_types."):
            fields(name, cls, rows)
    return classes


def class_of(cls):
    import torch

    for base, effect, kind in (
        (torch.nn.Parameter, "PARAMETER", "PARAMETER"),
        (torch.nn.Module, "MODULE", "MODULE"),
        (torch.optim.Optimizer, "OPTIMIZER", "OPTIMIZER"),
        (torch.distributions.Distribution, "DISTRIBUTION", "DISTRIBUTION"),
        (torch.utils.data.DataLoader, "LOADER", "LOADER"),
        (torch.utils.data.Dataset, "LOADER", "LOADER"),
        (torch.Tensor, "MAKES", "TENSOR"),
        (dict, "CONTAINER", "DICT"),
        (list, "CONTAINER", "LIST"),
        (tuple, "CONTAINER", "TUPLE"),
    ):
        if issubclass(cls, base):
            return effect, kind
    return "OBJECT", "OBJECT"


def fields(name, cls, rows):
    """The named elements of a result tuple."""
    for position, member in enumerate(cls.__match_args__ if hasattr(cls, "__match_args__") else ()):
        full = f"{name}.{member}"
        rows[full] = api_rows.Row(full, "FIELD", "ELEMENT", position, ("API_PROPERTY",))


def measure_constants(rows):
    """dtypes, layouts and numbers."""
    import torch

    for member in sorted(dir(torch)):
        value = getattr(torch, member)
        name = f"torch.{member}"
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format, torch.qscheme)):
            rows[name] = api_rows.Row(name, "NONE", "CONSTANT", 0, ("API_PROPERTY",))
        elif isinstance(value, float):
            rows[name] = api_rows.Row(name, "NONE", "NUMBER", 0, ("API_PROPERTY",))


def measure_results(seen, known):
    """Functions whose result is a named tuple."""
    return {
        name: one.type_name
        for name, found in seen.items()
        for one in found
        if one.type_name.startswith("torch.return_types.") and {name, one.type_name} <= known.keys()
    }


def measure():
    import api_names

    names = api_names.Names()
    rows, seen, flags = {}, {}, {}
    measure_operators(rows, seen, flags)
    measure_recipes(seen, flags)
    measure_guesses(names, seen, flags)
    for name, found in seen.items():
        row = api_rows.merge(name, found, flags.get(name, ()))
        if row is not None:
            rows[name] = row
    measure_properties(rows)
    measure_constants(rows)
    measure_distributions(names, rows)
    weights = measure_modules(names, rows)
    classes = measure_classes(names, rows, weights)
    return names, rows, classes, measure_results(seen, rows)


def header(what):
    import torch

    return f"/* Written by tools/gen_api.py under PyTorch {torch.__version__.split('+')[0]}: {what} */\n"


def pairs(macro, found):
    return "".join(f'{macro}("{a}", "{b}")\n' for a, b in sorted(found.items()))


def outputs(names, rows, classes, results):
    """Text of each file that this program owns."""
    hand = {}
    for table in HAND:
        hand.update(api_rows.parse(TABLES / table))
    kept = [row.text() for name, row in sorted(rows.items()) if name not in hand]
    hand_classes = (TABLES / "classes.def").read_text()
    class_rows = [
        f'CLASS("{name}", "{base}", {kind})'
        for name, (base, kind) in sorted(classes.items())
        if f'CLASS("{name}",' not in hand_classes
    ]
    return {
        "api_measured.def": header("what it was seen doing.") + "\n".join(kept) + "\n",
        "classes_measured.def": header("its classes.") + "\n".join(class_rows) + "\n",
        "aliases_measured.def": header("other names of its objects.")
        + pairs("ALIAS", names.aliases()),
        "results_measured.def": header("named tuples.") + pairs("RESULT", results),
    }


def check(files, rows):
    bad = []
    for name, text in files.items():
        if not (TABLES / name).exists() or (TABLES / name).read_text() != text:
            bad.append(f"{name} differs: run tools/gen_api.py")
    for table in HAND:
        for name, row in api_rows.parse(TABLES / table).items():
            if name in rows:
                found = api_rows.contradiction(row, rows[name])
                if found is not None:
                    bad.append(f"{table}: {found}")
    return bad


def sort_tables():
    for table in SORTED:
        path = TABLES / table
        lines = path.read_text().splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith(("API(", "CLASS(", "ALIAS(", "RESULT(", "HOOK(")))
        body = sorted({line for line in lines[start:] if line.strip()}, key=sort_key)
        path.write_text("\n".join(lines[:start] + body) + "\n")


def sort_key(line):
    parts = line.split('"')
    return (parts[1], parts[3] if line.startswith("HOOK(") else "")


def list_unknown(names, rows):
    for table in HAND:
        rows = {**rows, **api_rows.parse(TABLES / table)}
    for name in sorted(names.objects):
        if name not in rows:
            print(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sort", action="store_true")
    parser.add_argument("--unknown", action="store_true")
    options = parser.parse_args()
    if options.sort:
        sort_tables()
        return 0
    try:
        import torch
    except ImportError:
        print(f"gen_api: needs PyTorch {VERSION}", file=sys.stderr)
        return 2
    if not torch.__version__.startswith(VERSION):
        print(f"gen_api: needs PyTorch {VERSION}, this is {torch.__version__}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    names, rows, classes, results = measure()
    if options.unknown:
        list_unknown(names, rows)
        return 0
    files = outputs(names, rows, classes, results)
    if options.check:
        bad = check(files, rows)
        print("\n".join(bad) if bad else f"gen_api: {len(rows)} measured rows agree")
        return 1 if bad else 0
    for name, text in files.items():
        (TABLES / name).write_text(text)
    print(f"gen_api: {len(rows)} measured rows, {len(classes)} classes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
