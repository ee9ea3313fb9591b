import _support
import torch
import _torch


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    grads = [p.grad for p in parameters if p.grad is not None]
    with torch.no_grad():
        if not grads:
            return torch.tensor(0.0)
        norm_type = float(norm_type)
        norms = [torch.linalg.vector_norm(g, norm_type) for g in grads]
        total_norm = torch.linalg.vector_norm(torch.stack(norms), norm_type)
        norms = None
        clip_coef = float(max_norm) / (total_norm + 1e-6)
        clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
        for g in grads:
            g.mul_(clip_coef_clamped)
    return total_norm


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    norms = [torch.linalg.vector_norm(g, norm_type) for g in tensors]
    return torch.linalg.vector_norm(torch.stack(norms), norm_type)


clip_grad_norm = clip_grad_norm_


def clip_grad_value_(parameters, clip_value, foreach=None):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    with torch.no_grad():
        for p in parameters:
            if p.grad is not None:
                p.grad.clamp_(min=-float(clip_value), max=float(clip_value))


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    pointer = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[pointer:pointer + n].view_as(p).data
        pointer += n


def weight_norm(module, name="weight", dim=0):
    _support.unknown("torch.nn.utils.weight_norm()")
    return module


def spectral_norm(module, *args, **kwargs):
    _support.unknown("torch.nn.utils.spectral_norm()")
    return module


def skip_init(module_cls, *args, **kwargs):
    return module_cls(*args, **kwargs)
