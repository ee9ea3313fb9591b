import copy
import math
import torch
import torch.nn
from torch.optim.lr_scheduler import LRScheduler, _per_group


def get_ema_avg_fn(decay=0.999):
    def ema_update(ema_param, current_param, num_averaged):
        with torch.no_grad():
            return decay * ema_param + (1 - decay) * current_param
    return ema_update


def get_swa_avg_fn():
    def swa_update(averaged_param, current_param, num_averaged):
        with torch.no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)
    return swa_update


def get_ema_multi_avg_fn(decay=0.999):
    def ema_update(ema_params, current_params, num_averaged):
        with torch.no_grad():
            for averaged, current in zip(ema_params, current_params):
                averaged.lerp_(current, 1 - decay)
    return ema_update


def get_swa_multi_avg_fn():
    def swa_update(averaged_params, current_params, num_averaged):
        with torch.no_grad():
            for averaged, current in zip(averaged_params, current_params):
                averaged.lerp_(current, 1 / (float(num_averaged) + 1))
    return swa_update


class AveragedModel(torch.nn.Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _members(self, model):
        return [*model.parameters(), *model.buffers()] if self.use_buffers else list(model.parameters())

    def _average(self, averaged, current):
        if self.avg_fn is not None:
            for a, c in zip(averaged, current):
                a.copy_(self.avg_fn(a, c, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averaged, current, self.n_averaged)

    def update_parameters(self, model):
        averaged = [p.detach() for p in self._members(self.module)]
        current = [p.detach() for p in self._members(model)]
        if self.n_averaged == 0:
            for a, c in zip(averaged, current):
                a.copy_(c)
        else:
            self._average(averaged, current)
        if not self.use_buffers:
            for a, c in zip(self.module.buffers(), model.buffers()):
                a.detach().copy_(c.detach())
        self.n_averaged += 1


@torch.no_grad()
def update_bn(loader, model, device=None):
    norms = {m: m.momentum for m in model.modules() if isinstance(m, torch.nn._BatchNorm)}
    if not norms:
        return
    for module in norms:
        module.reset_running_stats()
        module.momentum = None
    was_training = model.training
    model.train()
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for module, momentum in norms.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for group, lr in zip(optimizer.param_groups, _per_group(optimizer, swa_lr)):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must by one of 'cos' or 'linear', instead got %s" % anneal_strategy)
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _alpha(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, alpha = self._alpha(step - 1), self._alpha(step)
        lrs = []
        for group in self.optimizer.param_groups:
            swa_lr = group["swa_lr"]
            first = swa_lr if before == 1 else (group["lr"] - before * swa_lr) / (1 - before)
            lrs.append(swa_lr * alpha + first * (1 - alpha))
        return lrs
