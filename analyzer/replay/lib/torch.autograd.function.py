import torch.autograd

Function = torch.autograd.Function


def once_differentiable(fn):
    return fn
