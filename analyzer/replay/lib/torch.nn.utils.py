import _support
import torch
import _torch


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    grads = _torch.gradients(parameters)
    if not grads:
        return torch.tensor(0.0)
    norm_type = float(norm_type)
    total_norm = _torch.clip(grads, norm_type)
    if total_norm is not None:
        return total_norm
    with torch.no_grad():
        norms = _torch.each("linalg.vector_norm", grads, norm_type)
        total_norm = torch.linalg.vector_norm(torch.stack(norms), norm_type)
        norms = None
        clip_coef = float(max_norm) / (total_norm + 1e-6)
        clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
        _torch.each("Tensor.mul_", grads, clip_coef_clamped)
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


# The lengths of the slices of one dimension.
def _norms(weight, dim):
    with torch.no_grad():
        if dim is None or dim == -1 and weight.dim() > 1:
            return weight.norm()
        others = [d for d in range(weight.dim()) if d != dim % weight.dim()]
        return weight.pow(2).sum(others, keepdim=True).sqrt() if others else weight.abs()


def _weight_of(v, g, dim):
    return v * (g / v.norm()) if dim is None else _torch.op("torch._weight_norm", (v, g, dim))


class WeightNorm:
    def __init__(self, name, dim):
        self.name = name
        self.dim = dim

    def compute_weight(self, module):
        return _weight_of(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


# A module that is not known has no parameters to be seen.
def _is_vague(module, name, what):
    if _support.is_unknown(module) or name not in module._parameters and _torch.inexact():
        _support.unknown("torch.nn.utils.%s()" % what)
        return True
    return False


def weight_norm(module, name="weight", dim=0):
    if _is_vague(module, name, "weight_norm"):
        return module
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", torch.nn.Parameter(_norms(weight, dim)))
    module.register_parameter(name + "_v", torch.nn.Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def _remove(module, name, kind, what):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            del module._forward_pre_hooks[key]
            return hook
    raise ValueError("%s of '%s' not found in %s" % (what, name, module))


def remove_weight_norm(module, name="weight"):
    if _is_vague(module, name + "_g", "remove_weight_norm"):
        return module
    hook = _remove(module, name, WeightNorm, "weight_norm")
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, torch.nn.Parameter(weight.data))
    return module


class SpectralNorm:
    def __init__(self, name, n_power_iterations, dim, eps):
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        normalize = torch.nn.functional.normalize
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
                if self.n_power_iterations > 0:
                    u, v = u.clone(), v.clone()
        sigma = torch.dot(u, torch.mv(matrix, v))
        return weight / sigma

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if _is_vague(module, name, "spectral_norm"):
        return module
    if dim is None:
        dim = 1 if isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d)) else 0
    normalize = torch.nn.functional.normalize
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    with torch.no_grad():
        height, width = hook.matrix(weight).shape
        u = normalize(torch.empty(height, dtype=weight.dtype).normal_(0, 1), dim=0, eps=eps)
        v = normalize(torch.empty(width, dtype=weight.dtype).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module, name="weight"):
    if _is_vague(module, name + "_orig", "remove_spectral_norm"):
        return module
    hook = _remove(module, name, SpectralNorm, "spectral_norm")
    with torch.no_grad():
        weight = hook.compute_weight(module, False)
    delattr(module, name)
    del module._buffers[name + "_u"], module._buffers[name + "_v"], module._parameters[name + "_orig"]
    module.register_parameter(name, torch.nn.Parameter(weight.detach()))
    return module


def skip_init(module_cls, *args, **kwargs):
    return module_cls(*args, **kwargs)
