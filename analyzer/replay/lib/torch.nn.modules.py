import torch.nn


def __getattr__(name):
    return getattr(torch.nn, name)
