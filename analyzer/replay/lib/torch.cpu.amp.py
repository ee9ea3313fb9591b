import warnings
import torch
import torch.amp


def _deprecated(old, new):
    warnings.warn("`torch.cpu.amp." + old + "(args...)` is deprecated. Please use `torch.amp." + new + "` instead.",
                  FutureWarning, stacklevel=3)


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.bfloat16, cache_enabled=True):
        _deprecated("autocast", "autocast('cpu', args...)")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(torch.amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _deprecated("GradScaler", "GradScaler('cpu', args...)")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
