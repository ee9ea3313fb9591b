"""Calls to try: OpInfo and ModuleInfo samples of PyTorch's own tests, and plain guesses."""

import inspect
import itertools
import math

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

import api_observe

SAMPLES = 12  # of each variant of an operator
# Functions that change the process, talk to the outside, or never return.
HANDS_OFF = (
    "set_ manual_seed seed initial_seed use_deterministic init_num save load compile "
    "import_ ir_ fork wait run_ launch spawn start stop register unregister barrier vitals "
    "cudnn_ miopen_ mkldnn_ mps_ _ export main abort clear autocast_"
).split()


def operators():
    """(dotted name, callable, sample, flags) for every name of every OpInfo."""
    for op in op_db:
        if op.variant_test_name in ("in_place", "grad_oriented"):
            continue
        for dtype in dtypes_of(op):
            flags = op_flags(op, dtype)
            names = operator_names(op)
            for sample in samples_of(op, dtype):
                for name, call, extra in names:
                    out = flags & {"API_OUT"} if is_function(name) else set()
                    yield name, call, sample, (flags - {"API_OUT"}) | out | extra


def is_function(name):
    return not name.endswith("_") and not name.startswith("torch.Tensor.")


def dtypes_of(op):
    """One floating type where there is one, and a complex one: real and conj differ there."""
    dtypes = op.supported_dtypes("cpu")
    floats = [d for d in (torch.float32, torch.float64) if d in dtypes][:1]
    others = [d for d in (torch.int64, torch.bool) if d in dtypes][:1]
    return (floats or others) + [d for d in (torch.complex64,) if d in dtypes]


def op_flags(op, dtype):
    flags = set()
    if getattr(op, "supports_out", False):
        flags.add("API_OUT")
    if not (dtype.is_floating_point or dtype.is_complex):
        flags.add("API_NO_DIFF")
    if op.name.split(".")[-1] in ("max", "min", "median", "nanmedian"):
        flags.add("API_TUPLE_IF_DIM")
    return flags


def samples_of(op, dtype):
    requires_grad = dtype.is_floating_point or dtype.is_complex
    try:
        torch.manual_seed(0)
        found = op.sample_inputs("cpu", dtype, requires_grad=requires_grad)
        return pick(list(itertools.islice(found, 200)))
    except Exception:
        return []


def pick(samples):
    """A few of the samples, spread evenly."""
    step = max(1, math.ceil(len(samples) / SAMPLES))
    return samples[::step]


def resolve(dotted):
    value = torch
    for part in dotted.split(".")[1:]:
        value = getattr(value, part, None)
        if value is None:
            return None
    return value


def operator_names(op):
    found = {}
    for name in [op.name, *[alias.name for alias in op.aliases]]:
        last = name.split(".")[-1]
        for dotted in (f"torch.{name}", f"torch.{last}", f"torch.nn.functional.{last}"):
            value = resolve(dotted)
            if callable(value) and not inspect.isclass(value) and same_operator(op, name, dotted):
                call = op.op if is_adapter(op) and name == op.name else value
                found[dotted] = (call, inplace_keyword(value))
        if "." in name and not name.startswith(("special.", "linalg.")):
            continue
        if "." in name and not hasattr(torch, last):
            continue
        add_method(found, last)
    return [(name, call, flags) for name, (call, flags) in sorted(found.items())]


def is_adapter(op):
    """torch.where's samples begin with a branch, others set a seed: OpInfo adapts the arguments."""
    return getattr(op.op, "__name__", "") in ("<lambda>", "inner_op")


def same_operator(op, name, dotted):
    """torch.norm is not linalg.norm: the short name counts only where there is no OpInfo of it."""
    return dotted == f"torch.{name}" or dotted.split(".", 1)[1] not in OP_NAMES


OP_NAMES = {op.name for op in op_db} | {alias.name for op in op_db for alias in op.aliases}


def add_method(found, last):
    for spelled in (last, f"{last}_"):
        value = getattr(torch.Tensor, spelled, None)
        if callable(value):
            found.setdefault(f"torch.Tensor.{spelled}", (value, set()))
    value = getattr(torch, f"{last}_", None)
    if callable(value):
        found.setdefault(f"torch.{last}_", (value, set()))
    value = getattr(torch.nn.functional, f"{last}_", None)
    if callable(value):
        found.setdefault(f"torch.nn.functional.{last}_", (value, set()))


def inplace_keyword(value):
    try:
        return {"API_INPLACE"} if "inplace" in inspect.signature(value).parameters else set()
    except (ValueError, TypeError):
        return set()


def guesses(seed=0):
    """Argument lists that many functions take."""
    torch.manual_seed(seed)
    x = (torch.rand(3, 3) * 0.5 + 0.2).requires_grad_()
    y = (torch.rand(3, 3) * 0.5 + 0.2).requires_grad_()
    batch = torch.rand(2, 3, 3, requires_grad=True)
    image = torch.rand(2, 3, 8, 8, requires_grad=True)
    index = torch.tensor([0, 2, 1])
    mask = torch.tensor([[True, False, True]] * 3)
    return [
        (x,),
        (x, y),
        (x, 1),
        (x, 0.5),
        (x, 0, 1),
        (x, index),
        (x, 0, index),
        (x, 0, index, y),
        (x, mask),
        (x, mask, y),
        (x, 0, 1, 1),
        (x, y, y),
        (x, 1, y),
        ([x, y],),
        (x, [x, y]),
        (x, (1, 1)),
        (batch,),
        (batch, batch),
        (image,),
        (image, 2),
        (image, image, 2),
        (torch.tensor([1, 2, 3]),),
        (torch.tensor([1, 2, 3]), torch.tensor([1, 1, 2])),
        ((2, 3),),
        (3,),
        (2, 3),
        (),
    ]


def is_safe(name):
    last = name.split(".")[-1]
    if last.startswith("__"):
        return last not in ("__reduce__", "__reduce_ex__", "__new__", "__init__", "__class__")
    return not any(last.startswith(word) for word in HANDS_OFF)


def try_guesses(call, method=False):
    """What the first guesses that work were seen doing."""
    seen = []
    for args in guesses():
        if method and not (args and isinstance(args[0], torch.Tensor)):
            continue
        try:
            seen.append(api_observe.observe(call, args))
        except Exception:
            continue
        if len(seen) == 3:
            break
    return seen


def takes_keyword(call, args, keyword, value, good):
    """Does the call accept the keyword, with a result that `good` approves?"""
    try:
        return good(call(*args, **{keyword: value}))
    except Exception:
        return False


def module_runs():
    """(class, module, forward arguments) for every ModuleInfo."""
    for info in module_db:
        try:
            torch.manual_seed(0)
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=True, training=True
            )
        except Exception:
            continue
        for given in itertools.islice(inputs, SAMPLES):
            if given.forward_input is None:
                continue
            made = given.constructor_input
            try:
                module = info.module_cls(*made.args, **made.kwargs)
            except Exception:
                continue
            yield info.module_cls, module, given.forward_input
