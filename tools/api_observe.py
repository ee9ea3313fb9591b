"""Runs one call under PyTorch and says what it did to graphs, storages and arguments."""

import dataclasses
import warnings

import torch

SAVED_LIMIT = 400  # nodes walked behind one result


@dataclasses.dataclass
class Seen:
    """What one call, or several calls of one name, were seen doing."""

    shape: str  # tensor, tuple, list, number, bool, str, shape, none, other
    count: int = 0
    type_name: str = ""
    grads: tuple = ()  # per tensor of the result: is it in a graph?
    same: bool = False  # the result is the first argument
    shares: bool = False  # ... shares its storage with it
    mutates: bool = False  # the first argument's version moved
    saves: frozenset = frozenset()
    inputs: int = 0  # how many tensor arguments required grad
    tensors: int = 0  # how many there were
    scalar: bool = False  # the result has no dimension, the first argument several elements


def tensors_in(value):
    """The tensors of an argument or result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_in(item)]
    return []


def map_tensors(value, change):
    """A copy of a structure of lists, tuples and dicts with its tensors changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: map_tensors(item, change) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map_tensors(item, change) for item in value)
    return value


def inside_graph(tensor):
    """A tensor in the middle of a graph: not a leaf, so that in-place calls are allowed."""
    if not tensor.requires_grad:
        return tensor.detach().clone() if tensor.layout == torch.strided else tensor
    return tensor.detach().requires_grad_().clone()


def storage_of(tensor):
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):
        return id(tensor)


def shape_of(result):
    if isinstance(result, torch.Tensor):
        return "tensor", 0
    if result is None:
        return "none", 0
    for kind, name in ((bool, "bool"), ((int, float, complex), "number"), (str, "str")):
        if isinstance(result, kind):
            return name, 0
    if isinstance(result, torch.Size):
        return "shape", len(result)
    if isinstance(result, (tuple, list)):
        if result and all(isinstance(item, torch.Tensor) for item in result):
            return ("tuple" if isinstance(result, tuple) else "list"), len(result)
        if all(isinstance(item, (int, float, bool)) for item in result):
            return "numbers", 0
        return "nested", len(result)
    return "other", 0


def nodes_between(results, arguments):
    """The nodes that the call made: from the results down to the arguments' own."""
    stop = {t.grad_fn for t in arguments if t.grad_fn is not None}
    todo = [t.grad_fn for t in results if t.grad_fn is not None]
    made = []
    seen = set()
    while todo and len(made) < SAVED_LIMIT:
        node = todo.pop()
        if node is None or node in seen or node in stop:
            continue
        seen.add(node)
        if type(node).__name__ == "AccumulateGrad":
            continue
        made.append(node)
        todo += [edge for edge, _ in node.next_functions]
    return made


def saved_by(nodes, results, arguments):
    """Whose storages the nodes keep: input, result or hidden."""
    inputs = {storage_of(t) for t in arguments}
    outputs = {storage_of(t) for t in results}
    found = set()
    for node in nodes:
        for name in dir(node):
            if not name.startswith("_saved_"):
                continue
            try:
                saved = tensors_in(getattr(node, name))
            except RuntimeError:
                continue
            for tensor in saved:
                key = storage_of(tensor)
                if key in inputs:
                    found.add("input")
                elif key in outputs:
                    found.add("result")
                elif tensor.numel() > 0:
                    found.add("hidden")
    return frozenset(found)


def saves_anything(result):
    """Does any node behind it keep a tensor?"""
    return bool(saved_by(nodes_between([result], []), [], []))


def version_of(tensor):
    try:
        return tensor._version
    except RuntimeError:
        return 0


def observe(call, args, kwargs=None):
    """Calls with fresh tensors inside a graph. Raises what the call raises."""
    args, kwargs = map_tensors((tuple(args), dict(kwargs or {})), inside_graph)
    arguments = tensors_in((list(args), kwargs))
    first = args[0] if args and isinstance(args[0], torch.Tensor) else None
    before = [version_of(t) for t in arguments]
    old = [t.grad_fn for t in arguments]
    inputs = sum(1 for t in arguments if t.requires_grad)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = call(*args, **kwargs)
    results = tensors_in(result)
    shape, count = shape_of(result)
    mutated = [t for t, v in zip(arguments, before) if version_of(t) != v]
    if mutated:
        stop = [fn for fn in old if fn is not None]
        nodes = [n for n in nodes_between(results, []) if n not in stop]
        saves = frozenset()
    else:
        nodes = nodes_between(results, arguments)
        saves = saved_by(nodes, results, arguments)
    firsts = {storage_of(first)} if first is not None else set()
    if isinstance(args[0] if args else None, (list, tuple)):
        firsts = {storage_of(t) for t in tensors_in(args[0])}
    return Seen(
        shape=shape,
        count=count,
        type_name=f"{type(result).__module__}.{type(result).__qualname__}",
        grads=tuple(t.grad_fn is not None for t in results),
        same=result is first and first is not None,
        shares=bool(results) and all(storage_of(t) in firsts for t in results),
        mutates=first is not None and any(t is first for t in mutated),
        saves=saves,
        inputs=inputs,
        tensors=len(arguments),
        scalar=shape == "tensor" and result.dim() == 0 and first is not None and first.numel() > 1,
    )
