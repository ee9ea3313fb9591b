import torch.distributions


def __getattr__(name):
    return getattr(torch.distributions, name)
