import torch
import torch.amp


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.bfloat16, cache_enabled=True):
        torch.amp._deprecated("torch.cpu.amp.autocast", "autocast('cpu', args...)")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(torch.amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        torch.amp._deprecated("torch.cpu.amp.GradScaler", "GradScaler('cpu', args...)")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
