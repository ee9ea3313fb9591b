import torch.utils.data as data
