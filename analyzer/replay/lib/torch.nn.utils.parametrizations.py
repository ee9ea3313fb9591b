import _support
import torch
from torch.nn import Module
from torch.nn.utils import _norms, _weight_of
from torch.nn.utils.parametrize import register_parametrization


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return _weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return _norms(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps = eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight.detach())
            normalize = torch.nn.functional.normalize
            u = torch.empty(matrix.size(0), dtype=weight.dtype).normal_(0, 1)
            v = torch.empty(matrix.size(1), dtype=weight.dtype).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.flatten(1)

    @torch.no_grad()
    def _power_method(self, matrix, count):
        normalize = torch.nn.functional.normalize
        for _ in range(count):
            self._u.copy_(normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(normalize(torch.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.dim() == 1:
            return torch.nn.functional.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        sigma = torch.vdot(u, torch.mv(matrix, v))
        return weight / sigma

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d)) else 0
    if _support.is_unknown(getattr(module, name)):
        _support.unknown("torch.nn.utils.parametrizations.spectral_norm()")
        return module
    return register_parametrization(module, name,
                                    _SpectralNorm(getattr(module, name), n_power_iterations, dim, eps))


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    _support.unknown("torch.nn.utils.parametrizations.orthogonal()")
    return module
