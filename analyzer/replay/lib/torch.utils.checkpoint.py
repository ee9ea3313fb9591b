import _torch
import torch


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, determinism_check="default",
               debug=False, context_fn=None, **kwargs):
    where = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
    tensors = [args[i] for i in where]
    rest = [None if isinstance(a, torch.Tensor) else a for a in args]
    args = None

    def run(*inputs):
        full = list(rest)
        for i, t in zip(where, inputs):
            full[i] = t
        return function(*full, **kwargs)
    return _torch.checkpoint(run, tensors, use_reentrant is None or use_reentrant, preserve_rng_state)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments

    def run_from(start, end):
        def run(x):
            for f in functions[start:end]:
                x = f(x)
            return x
        return run
    end = 0
    for i in range(segments - 1):
        input = checkpoint(run_from(i * size, (i + 1) * size), input, use_reentrant=use_reentrant, **kwargs)
        end = (i + 1) * size
    return run_from(end, len(functions))(input)
