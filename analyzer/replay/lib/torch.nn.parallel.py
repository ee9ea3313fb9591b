import _support
from torch.nn import DataParallel, Module


# Its buckets of gradients are not counted.
class DistributedDataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0, **kwargs):
        super().__init__()
        _support.unknown("torch.nn.parallel.DistributedDataParallel's buckets")
        self.module = module

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    def no_sync(self):
        return _support.unknown("no_sync()")
