import _support
import torch

autocast = torch.autocast


class GradScaler:
    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5,
                 growth_interval=2000, enabled=True):
        # Without an accelerator torch warns and switches the scaler off.
        self._enabled = enabled and device == "cpu"
        if self._enabled:
            _support.unknown("torch.amp.GradScaler")
        self._scale = init_scale

    def scale(self, outputs):
        if not self._enabled:
            return outputs
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(o) for o in outputs)
        return outputs * torch.tensor(self._scale)

    def unscale_(self, optimizer):
        if self._enabled:
            with torch.no_grad():
                for group in optimizer.param_groups:
                    for p in group["params"]:
                        if p.grad is not None:
                            p.grad.mul_(1.0 / self._scale)

    def step(self, optimizer, *args, **kwargs):
        self.unscale_(optimizer)
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        pass

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def is_enabled(self):
        return self._enabled

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass
