import torch.utils.data as _data


def __getattr__(name):
    return getattr(_data, name)
