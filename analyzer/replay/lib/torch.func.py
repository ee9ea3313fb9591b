import _support
import torch


# Tensors of nested dicts, lists and tuples, and the same nest with others in their places.
def _leaves(tree):
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in _leaves(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in _leaves(value)]
    return [tree]


def _rebuilt(tree, leaves):
    if isinstance(tree, dict):
        return type(tree)([(key, _rebuilt(value, leaves)) for key, value in tree.items()])
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[_rebuilt(value, leaves) for value in tree])
    if isinstance(tree, (list, tuple)):
        return type(tree)([_rebuilt(value, leaves) for value in tree])
    return next(leaves)


def _each(tree, change):
    return _rebuilt(tree, iter([change(leaf) for leaf in _leaves(tree)]))


def _opened(x):
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        return x
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()


# Whether a graph leads to a leaf that was there before these.
def _leads_out(tensor, opened):
    todo, seen = [tensor.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None and not any([variable is x for x in opened]):
            return True
        todo.extend([following for following, _ in node.next_functions])
    return False


def _closed(tree, opened):
    def close(x):
        if isinstance(x, torch.Tensor) and x.requires_grad and not _leads_out(x, opened):
            return x.detach()
        return x
    return _each(tree, close)


def _called(func, argnums, args, kwargs, has_aux):
    nums = argnums if isinstance(argnums, tuple) else (argnums,)
    args = list(args)
    for at in nums:
        args[at] = _each(args[at], _opened)
    chosen = tuple([args[at] for at in nums]) if isinstance(argnums, tuple) else args[argnums]
    with torch.enable_grad():
        output = func(*args, **kwargs)
    output, aux = output if has_aux else (output, None)
    return chosen, output, aux


# A graph of the slopes is only made where somebody outside has a use for it.
def _slopes(output, inputs, weights=None, graph=None):
    if not output.requires_grad:
        return [torch.zeros_like(x) for x in inputs]
    if graph is None:
        graph = _leads_out(output, inputs)
    with torch.enable_grad():
        return list(torch.autograd.grad(output, inputs, weights, retain_graph=True, create_graph=graph,
                                        allow_unused=True, materialize_grads=True))


def grad_and_value(func, argnums=0, has_aux=False):
    def wrapper(*args, **kwargs):
        chosen, output, aux = _called(func, argnums, args, kwargs, has_aux)
        if not isinstance(output, torch.Tensor) or output.dim():
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got %s. "
                               "Maybe you wanted to use the vjp or jacrev APIs instead?"
                               % ("tensor with %d dims" % output.dim() if isinstance(output, torch.Tensor)
                                  else type(output)))
        inputs = _leaves(chosen)
        grads = _closed(_rebuilt(chosen, iter(_slopes(output, inputs))), inputs)
        value = _closed(output, inputs)
        return (grads, (value, _closed(aux, inputs))) if has_aux else (grads, value)
    return wrapper


def grad(func, argnums=0, has_aux=False):
    both = grad_and_value(func, argnums, has_aux)

    def wrapper(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads
    return wrapper


def vjp(func, *primals, has_aux=False):
    chosen, output, aux = _called(func, tuple(range(len(primals))), primals, {}, has_aux)
    inputs = _leaves(chosen)

    def pull(cotangents):
        outputs, weights = _leaves(output), _leaves(cotangents)
        sums = [_slopes(o, inputs, w) for o, w in zip(outputs, weights)]
        grads = [sum(parts[1:], parts[0]) for parts in zip(*sums)]
        return _closed(_rebuilt(chosen, iter(grads)), inputs)
    value = _closed(output, inputs)
    return (value, pull, _closed(aux, inputs)) if has_aux else (value, pull)


# A backward of a backward, whose weights are the variables.
def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    chosen, output, aux = _called(func, tuple(range(len(primals))), primals, {}, has_aux)
    inputs = _leaves(chosen)
    results = []
    for part in _leaves(output):
        weights = torch.ones_like(part).requires_grad_()
        slopes = _slopes(part, inputs, weights, True)
        inner = sum([(s * t).sum() for s, t in zip(slopes, _leaves(tangents))])
        results.append(_slopes(inner, [weights])[0])
    result = _closed(_rebuilt(output, iter(results)), inputs)
    value = _closed(output, inputs)
    return (value, result, _closed(aux, inputs)) if has_aux else (value, result)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    def wrapper(*args, **kwargs):
        chosen, output, aux = _called(func, argnums, args, kwargs, has_aux)
        inputs = _leaves(chosen)

        def jacobian(part):
            rows = [_slopes(value, inputs) for value in part.reshape(-1)]
            columns = [torch.stack(column).view(*part.shape, *x.shape) for column, x in zip(zip(*rows), inputs)]
            return _closed(_rebuilt(chosen, iter(columns)), inputs)
        result = _each(output, jacobian)
        return (result, _closed(aux, inputs)) if has_aux else result
    return wrapper


def jacfwd(func, argnums=0, has_aux=False, *, chunk_size=None, randomness="error"):
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)


def _dims(dims, tree):
    if dims is None or isinstance(dims, int):
        return [dims] * len(_leaves(tree))
    if isinstance(tree, dict):
        return [d for key in tree for d in _dims(dims[key], tree[key])]
    return [d for part, value in zip(dims, tree) for d in _dims(part, value)]


# One call for each element: the results are those of the batched ops, graphs are not.
def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    _support.unknown("torch.vmap()")

    def wrapper(*args, **kwargs):
        leaves, dims = _leaves(args), _dims(in_dims, args)
        named = _leaves(kwargs)
        sizes = [x.size(d) for x, d in zip(leaves, dims) if d is not None] + [x.size(0) for x in named]
        if not sizes:
            raise ValueError("vmap(%s, in_dims=%s, ...)(<inputs>): at least one input must have a batch dimension"
                             % (getattr(func, "__name__", func), in_dims))
        if any([size != sizes[0] for size in sizes]):
            raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes %s "
                             "for the mapped dimension" % sizes)
        results = []
        for i in range(sizes[0]):
            own = [x if d is None else x.select(d, i) for x, d in zip(leaves, dims)]
            results.append(func(*_rebuilt(args, iter(own)), **_each(kwargs, lambda x: x.select(0, i))))
        first, parts = results[0], [_leaves(result) for result in results]
        stacked = [torch.stack(column, 0 if d is None else d) for column, d in zip(zip(*parts), _dims(out_dims, first))]
        return _rebuilt(first, iter(stacked))
    return wrapper


def stack_module_state(models):
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    params = {name: torch.stack([dict(m.named_parameters())[name] for m in models]).detach()
              .requires_grad_(param.requires_grad) for name, param in models[0].named_parameters()}
    buffers = {name: torch.stack([dict(m.named_buffers())[name] for m in models]).detach()
               for name, _ in models[0].named_buffers()}
    return params, buffers


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, tie_weights=True, strict=False):
    """The module's own parameters stand aside while it is called."""
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        given = {name: value for part in given for name, value in part.items()}
    places, kept = [], []
    for name in given:
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        store = owner._parameters if last in owner._parameters else owner._buffers
        places.append((store, last))
        kept.append(store[last])
    try:
        for (store, last), value in zip(places, given.values()):
            store[last] = value
        return module(*(args if isinstance(args, tuple) else () if args is None else (args,)), **(kwargs or {}))
    finally:
        for (store, last), value in zip(places, kept):
            store[last] = value
