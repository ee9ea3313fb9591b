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


no_grad = torch.no_grad
enable_grad = torch.enable_grad
inference_mode = torch.inference_mode
set_grad_enabled = torch.set_grad_enabled
