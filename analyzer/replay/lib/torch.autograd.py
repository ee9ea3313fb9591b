import _torch
import torch


def _tuple(x):
    return tuple(x) if isinstance(x, (list, tuple)) else (x,) if isinstance(x, torch.Tensor) else tuple(x)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    grads = () if grad_outputs is None else _tuple(grad_outputs)
    return _torch.grad(_tuple(outputs), _tuple(inputs), grads, retain_graph, create_graph,
                       bool(allow_unused or materialize_grads))


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    grads = () if grad_tensors is None else _tuple(grad_tensors)
    _torch.backward(_tuple(tensors), grads, retain_graph, create_graph)


class _Context:
    def save_for_backward(self, *tensors):
        self.__dict__["$saved"] = tensors

    def save_for_forward(self, *tensors):
        pass

    @property
    def saved_tensors(self):
        return _torch.custom_saved(self)

    saved_variables = saved_tensors

    def mark_dirty(self, *args):
        _torch.custom_mark(self, args, True)

    def mark_non_differentiable(self, *args):
        _torch.custom_mark(self, args, False)

    def set_materialize_grads(self, value):
        pass


class Function:
    @classmethod
    def apply(cls, *args, **kwargs):
        ctx = _Context()
        ctx.needs_input_grad = tuple(isinstance(a, torch.Tensor) and a.requires_grad for a in args)
        if "setup_context" in cls.__dict__:
            def run(*inputs):
                output = cls.forward(*inputs)
                cls.setup_context(ctx, inputs, output)
                return output
        else:
            def run(*inputs):
                return cls.forward(ctx, *inputs)
        return _torch.custom_apply(cls, ctx, run, args, cls.__name__ + "Backward")


def Variable(data, requires_grad=False, volatile=False):
    data = data.detach()
    return data.requires_grad_(requires_grad) if requires_grad else data


class set_detect_anomaly:
    def __init__(self, mode=True, check_nan=True):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


class detect_anomaly(set_detect_anomaly):
    pass


class GradcheckError(RuntimeError):
    pass


# By central differences: a column for each element of each input.
def _compared(func, inputs, at, eps, atol, rtol):
    x = inputs[at]
    outputs = [o for o in _tuple(func(*inputs)) if isinstance(o, torch.Tensor) and o.requires_grad]
    for number, output in enumerate(outputs):
        rows = [grad(value, x, retain_graph=True, allow_unused=True)[0] for value in output.reshape(-1)]
        analytical = torch.stack([torch.zeros_like(x).reshape(-1) if r is None else r.reshape(-1) for r in rows], 1)
        columns, flat = [], x.data.view(-1)
        for i in range(x.numel()):
            before, ends = flat[i].item(), []
            for moved in (before - eps, before + eps):
                flat[i] = moved
                ends.append(_tuple(func(*inputs))[number].detach().clone().reshape(-1))
            flat[i] = before
            columns.append((ends[1] - ends[0]) / (2 * eps))
        numerical = torch.stack(columns)
        if not torch.allclose(numerical, analytical, rtol, atol):
            raise GradcheckError("Jacobian mismatch for output %d with respect to input %d,\nnumerical:%s\nanalytical:%s\n"
                                 % (number, at, numerical, analytical))


def gradcheck(func, inputs, *, eps=1e-06, atol=1e-05, rtol=0.001, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, fast_mode=False, **kwargs):
    inputs = _tuple(inputs)
    try:
        with torch.enable_grad():
            for at, x in enumerate(inputs):
                if isinstance(x, torch.Tensor) and x.requires_grad:
                    _compared(func, inputs, at, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, **kwargs):
    inputs = _tuple(inputs)
    if grad_outputs is None:
        with torch.no_grad():
            grad_outputs = tuple([torch.randn_like(o) for o in _tuple(func(*inputs))])
    grad_outputs = tuple([g.detach().requires_grad_() for g in _tuple(grad_outputs)])
    count = len(inputs)

    def slopes(*both):
        wanted = [x for x in both[:count] if isinstance(x, torch.Tensor) and x.requires_grad]
        return grad(_tuple(func(*both[:count])), wanted, both[count:], create_graph=True, allow_unused=True)
    return gradcheck(slopes, inputs + grad_outputs, **kwargs)


no_grad = torch.no_grad
enable_grad = torch.enable_grad
inference_mode = torch.inference_mode
set_grad_enabled = torch.set_grad_enabled
