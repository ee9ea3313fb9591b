import _torch
import torch


def multi_head_attention_forward(*args, **kwargs):
    made = _torch.op("F.multi_head_attention_forward", args, kwargs)
    return made if isinstance(made, tuple) else (made, None)


def sigmoid(input):
    return torch.sigmoid(input)


def tanh(input):
    return torch.tanh(input)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    return torch.cosine_similarity(x1, x2, dim, eps)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    gumbels = -torch.empty_like(logits).exponential_().log()
    gumbels = (logits + gumbels) / tau
    y_soft = gumbels.softmax(dim)
    if hard:
        index = y_soft.max(dim, keepdim=True)[1]
        y_hard = torch.zeros_like(logits).scatter_(dim, index, 1.0)
        return y_hard - y_soft.detach() + y_soft
    return y_soft
