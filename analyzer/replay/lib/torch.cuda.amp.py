import torch
import torch.amp


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        torch.amp._deprecated("torch.cuda.amp.autocast", "autocast('cuda', args...)")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(torch.amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        torch.amp._deprecated("torch.cuda.amp.GradScaler", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd=None, *, cast_inputs=None):
    torch.amp._deprecated("torch.cuda.amp.custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return torch.amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd):
    torch.amp._deprecated("torch.cuda.amp.custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return torch.amp.custom_bwd(bwd, device_type="cuda")
