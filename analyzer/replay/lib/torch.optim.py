import math
import _support
import _torch
import torch
import torch.optim.lr_scheduler as lr_scheduler


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


# Parameters that are not known are one: that of every model that is not known.
def _known(params):
    if _support.is_unknown(params):
        return [_torch.assumed_parameter()]
    known = []
    unknown = False
    for p in params:
        if isinstance(p, tuple) and len(p) == 2:
            p = p[1]
        if _support.is_unknown(p):
            unknown = True
        else:
            known.append(p)
    if unknown or (not known and _torch.inexact()):
        known.append(_torch.assumed_parameter())
    return known


class Optimizer:
    def __init__(self, params, defaults):
        self.defaults = defaults
        self._plans = {}
        self._hooks_pre = []
        self._hooks_post = []
        self.state = _State()
        self.param_groups = []
        if isinstance(params, torch.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            + type(params).__name__)
        param_groups = _known(params)
        if not param_groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(param_groups[0], dict):
            if isinstance(param_groups[0], tuple):
                param_groups = [p for _, p in param_groups]
            param_groups = [{"params": param_groups}]
        for group in param_groups:
            self.add_param_group(dict(group))

    def add_param_group(self, param_group):
        params = param_group["params"]
        param_group["params"] = [params] if isinstance(params, torch.Tensor) else _known(params)
        for p in param_group["params"]:
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            if set_to_none:
                _torch.drop_gradients(group["params"])
                continue
            for p in group["params"]:
                if p.grad is not None:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure=None):
        loss = None
        for hook in self._hooks_pre:
            hook(self, (), {})
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        prev = _torch.mode_get()
        _torch.mode_set(0)
        try:
            for group in self.param_groups:
                _torch.update(self, group, self._plans)
        finally:
            _torch.mode_set(prev)
        for hook in self._hooks_post:
            hook(self, (), {})
        return loss

    def _new(self, p, fill=None):
        made = torch.zeros_like(p, dtype=None) if fill is None else torch.full_like(p, fill)
        _torch.set_kind(made, "optimizer")
        return made

    def _step_tensor(self):
        made = torch.tensor(0.0, dtype=torch.float32)
        _torch.set_kind(made, "optimizer")
        return made

    # Makes the state of one parameter; None: the update makes it.
    _begin = None

    # The state of all is there before the first of them moves.
    def _begin_all(self, group):
        if self._begin is None:
            return False
        for p in group["params"]:
            if p.grad is not None:
                state = self.state[p]
                if len(state) == 0:
                    self._begin(p, state, group)
        return True

    def _each(self, group):
        self._begin_all(group)
        for p in group["params"]:
            if p.grad is not None:
                yield p, _gradient(p, group), self.state[p]

    def register_step_post_hook(self, hook):
        self._hooks_post.append(hook)

    def register_step_pre_hook(self, hook):
        self._hooks_pre.append(hook)

    def state_dict(self):
        index = {}
        for group in self.param_groups:
            for p in group["params"]:
                index[id(p)] = len(index)
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [index[id(p)] for p in group["params"]]
            groups.append(packed)
        return {"state": {index[id(p)]: dict(s) for p, s in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        if _support.is_unknown(state_dict):
            return
        params = [p for group in self.param_groups for p in group["params"]]
        index = [i for group in state_dict["param_groups"] for i in group["params"]]
        if len(params) != len(index):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        self.state = _State()
        for i, p in zip(index, params):
            if i in state_dict["state"]:
                self.state[p] = {k: _moved(k, v, p) for k, v in state_dict["state"][i].items()}
        for group, saved in zip(self.param_groups, state_dict["param_groups"]):
            group.update({k: v for k, v in saved.items() if k != "params"})

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += "\nParameter Group %d\n" % i
            for key in sorted(group):
                if key != "params":
                    text += "    %s: %s\n" % (key, group[key])
        return text + ")"


# State is kept as its parameter is, but for counts of steps.
def _moved(key, value, param):
    if key == "step" or not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.to(dtype=param.dtype)


class _State(dict):
    def __missing__(self, key):
        value = self[key] = {}
        return value


def _to_float(x):
    return x.item() if isinstance(x, torch.Tensor) else x


# The gradient as the step sees it.
def _gradient(p, group):
    grad = p.grad
    if grad is None:
        return None
    if group.get("maximize"):
        grad = -grad
    if group.get("weight_decay") and not group.get("decoupled_weight_decay"):
        grad = grad.add(p, alpha=group["weight_decay"])
    return grad


def _decay(p, group, lr):
    if group["weight_decay"] != 0 and group["decoupled_weight_decay"]:
        p.mul_(1 - lr * group["weight_decay"])


class SGD(Optimizer):
    def __init__(self, params, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        if lr < 0.0:
            raise ValueError("Invalid learning rate: %s" % lr)
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay,
                                      nesterov=nesterov, maximize=maximize, foreach=foreach,
                                      differentiable=differentiable, fused=fused))

    def _update(self, group):
        lr = _to_float(group["lr"])
        momentum = group["momentum"]
        for p in group["params"]:
            grad = _gradient(p, group)
            if grad is None:
                continue
            if momentum != 0:
                state = self.state[p]
                buf = state.get("momentum_buffer")
                if buf is None:
                    buf = grad.detach().clone()
                    _torch.set_kind(buf, "optimizer")
                    state["momentum_buffer"] = buf
                else:
                    buf.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
                grad = grad.add(buf, alpha=momentum) if group["nesterov"] else buf
            p.add_(grad, alpha=-lr)


class Adam(Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False, fused=None,
                 decoupled_weight_decay=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["exp_avg"] = self._new(p)
        state["exp_avg_sq"] = self._new(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = self._new(p)

    def _update(self, group):
        beta1, beta2 = group["betas"]
        lr = _to_float(group["lr"])
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            _decay(p, group, lr)
            exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
            exp_avg.lerp_(grad, 1 - beta1)
            exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            step = _to_float(state["step"])
            bias_correction1 = 1 - beta1 ** step
            bias_correction2_sqrt = (1 - beta2 ** step) ** 0.5
            step_size = lr / bias_correction1
            if group["amsgrad"]:
                worst = state["max_exp_avg_sq"]
                worst.copy_(torch.maximum(worst, exp_avg_sq))
                denom = (worst.sqrt() / bias_correction2_sqrt).add_(group["eps"])
            else:
                denom = (exp_avg_sq.sqrt() / bias_correction2_sqrt).add_(group["eps"])
            p.addcdiv_(exp_avg, denom, value=-step_size)


class AdamW(Adam):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, amsgrad=False, **options):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **options)


class NAdam(Optimizer):
    def __init__(self, params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, momentum_decay=0.004,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      momentum_decay=momentum_decay, decoupled_weight_decay=decoupled_weight_decay,
                                      maximize=maximize, foreach=foreach, capturable=capturable,
                                      differentiable=differentiable))

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["mu_product"] = torch.ones((), dtype=torch.float32)
        state["exp_avg"] = self._new(p)
        state["exp_avg_sq"] = self._new(p)

    def _update(self, group):
        beta1, beta2 = group["betas"]
        lr = _to_float(group["lr"])
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            step = _to_float(state["step"])
            bias_correction2 = 1 - beta2 ** step
            _decay(p, group, lr)
            mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * group["momentum_decay"])))
            mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * group["momentum_decay"])))
            state["mu_product"].mul_(mu)
            state["exp_avg"].lerp_(grad, 1 - beta1)
            state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            denom = state["exp_avg_sq"].div(bias_correction2).sqrt().add_(group["eps"])
            product = _to_float(state["mu_product"])
            p.addcdiv_(grad, denom, value=-lr * (1.0 - mu) / (1.0 - product))
            p.addcdiv_(state["exp_avg"], denom, value=-lr * mu_next / (1.0 - product * mu_next))


class RAdam(Optimizer):
    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      foreach=foreach, capturable=capturable,
                                      decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))
        self._plans = None  # what a step needs changes with their number

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["exp_avg"] = self._new(p)
        state["exp_avg_sq"] = self._new(p)

    def _update(self, group):
        beta1, beta2 = group["betas"]
        lr = _to_float(group["lr"])
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            step = _to_float(state["step"])
            _decay(p, group, lr)
            state["exp_avg"].lerp_(grad, 1 - beta1)
            state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            bias_correction1 = 1 - beta1 ** step
            bias_correction2 = 1 - beta2 ** step
            corrected = state["exp_avg"] / bias_correction1
            rho_inf = 2 / (1 - beta2) - 1
            rho_t = rho_inf - 2 * step * (beta2 ** step) / bias_correction2
            if rho_t > 5.0:
                rect = math.sqrt((rho_t - 4) * (rho_t - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho_t))
                p.add_(corrected * lr * (bias_correction2 ** 0.5 / state["exp_avg_sq"].sqrt().add_(group["eps"])) * rect,
                       alpha=-1.0)
            else:
                p.add_(corrected * lr, alpha=-1.0)


class Adamax(Optimizer):
    def __init__(self, params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, foreach=None, *,
                 maximize=False, differentiable=False, capturable=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["exp_avg"] = self._new(p)
        state["exp_inf"] = self._new(p)

    def _update(self, group):
        beta1, beta2 = group["betas"]
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            state["exp_avg"].lerp_(grad, 1 - beta1)
            state["exp_inf"].mul_(beta2).clamp_(min=grad.abs().add_(group["eps"]))
            clr = group["lr"] / (1 - beta1 ** _to_float(state["step"]))
            p.addcdiv_(state["exp_avg"], state["exp_inf"], value=-clr)


class ASGD(Optimizer):
    def __init__(self, params, lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0, foreach=None,
                 maximize=False, differentiable=False, capturable=False):
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize, differentiable=differentiable,
                                      capturable=capturable))

    def _number(self, value):
        made = torch.tensor(float(value), dtype=torch.float32)
        _torch.set_kind(made, "optimizer")
        return made

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["eta"] = self._number(_to_float(group["lr"]))
        state["mu"] = self._number(1)
        state["ax"] = self._new(p)

    def _update(self, group):
        lr, lambd = _to_float(group["lr"]), group["lambd"]
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            step, eta, mu = state["step"].item(), state["eta"].item(), state["mu"].item()
            p.mul_(1 - lambd * eta)
            p.add_(grad, alpha=-eta)
            if mu != 1:
                state["ax"].add_(p.sub(state["ax"]).mul_(mu))
            else:
                state["ax"].copy_(p)
            state["eta"].copy_(torch.tensor(lr / ((1 + lambd * lr * step) ** group["alpha"])))
            state["mu"].copy_(torch.tensor(1 / max(1, step - group["t0"])))


class Rprop(Optimizer):
    def __init__(self, params, lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-06, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["prev"] = self._new(p)
        state["step_size"] = self._new(p, _to_float(group["lr"]))

    def _update(self, group):
        less, more = group["etas"]
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            sign = grad.mul(state["prev"]).sign()
            sign[sign.gt(0)] = more
            sign[sign.lt(0)] = less
            sign[sign.eq(0)] = 1
            state["step_size"].mul_(sign).clamp_(*group["step_sizes"])
            grad = grad.clone()
            grad[sign.eq(less)] = 0
            p.addcmul_(grad.sign(), state["step_size"], value=-1)
            state["prev"].copy_(grad)


class Adafactor(Optimizer):
    def __init__(self, params, lr=0.01, beta2_decay=-0.8, eps=(None, 0.001), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize))

    def _sums(self, p, dim):
        shape = list(p.shape)
        shape[dim] = 1
        made = torch.zeros(shape, dtype=p.dtype)
        _torch.set_kind(made, "optimizer")
        return made

    def _update(self, group):
        lr = _to_float(group["lr"])
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if group["maximize"]:
                grad = -grad
            state = self.state[p]
            if len(state) == 0:
                state["step"] = self._step_tensor()
                if grad.dim() > 1:
                    state["row_var"] = self._sums(p, -1)
                    state["col_var"] = self._sums(p, -2)
                else:
                    state["variance"] = self._new(p)
            self._move(p, grad, state, group, lr)

    def _move(self, p, grad, state, group, lr):
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = torch.finfo(p.dtype).eps
        state["step"].add_(1)
        step = state["step"].item()
        share = step ** group["beta2_decay"]
        alpha = max(eps2, p.norm(2).item() / p.numel() ** 0.5) * min(lr, 1 / step ** 0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(torch.norm(grad, dim=-1, keepdim=True).square_().div_(grad.size(-1)), share)
            columns.lerp_(torch.norm(grad, dim=-2, keepdim=True).square_().div_(grad.size(-2)), share)
            estimate = rows @ columns
            estimate.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            state["variance"].lerp_(grad.square(), share)
            estimate = state["variance"].clone()
        update = estimate.clamp_(min=eps1 * eps1).rsqrt_()
        update.mul_(grad)
        norm = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
        p.add_(update, alpha=-alpha / norm)


class Muon(Optimizer):
    def __init__(self, params, lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-07, ns_steps=5, adjust_lr_fn=None):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps,
                                      adjust_lr_fn=adjust_lr_fn))
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: %s"
                                     % (p.size(),))

    def _orthogonal(self, grad, group):
        a, b, c = group["ns_coefficients"]
        x = grad.bfloat16()
        if grad.size(0) > grad.size(1):
            x = x.T
        x.div_(x.norm().clamp(min=group["eps"]))
        for _ in range(group["ns_steps"]):
            gram = x @ x.T
            x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        return x.T if grad.size(0) > grad.size(1) else x

    def _update(self, group):
        lr = _to_float(group["lr"])
        moved = [p for p in group["params"] if p.grad is not None]
        for p in moved:
            if "momentum_buffer" not in self.state[p]:
                self.state[p]["momentum_buffer"] = self._new(p)
        for p in moved:
            buffer = self.state[p]["momentum_buffer"]
            buffer.lerp_(p.grad, 1 - group["momentum"])
            update = p.grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
            rows, columns = p.shape
            if group["adjust_lr_fn"] == "match_rms_adamw":
                ratio = 0.2 * math.sqrt(max(rows, columns))
            else:
                ratio = math.sqrt(max(1, rows / columns))
            p.mul_(1 - lr * group["weight_decay"])
            p.add_(self._orthogonal(update, group), alpha=-lr * ratio)


class RMSprop(Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered,
                                      weight_decay=weight_decay, capturable=capturable, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable))

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["square_avg"] = self._new(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = self._new(p)
        if group["centered"]:
            state["grad_avg"] = self._new(p)

    def _update(self, group):
        alpha = group["alpha"]
        lr = _to_float(group["lr"])
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            square_avg = state["square_avg"]
            square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
            if group["centered"]:
                state["grad_avg"].lerp_(grad, 1 - alpha)
                avg = square_avg.addcmul(state["grad_avg"], state["grad_avg"], value=-1).sqrt_()
            else:
                avg = square_avg.sqrt()
            avg = avg.add_(group["eps"])
            if group["momentum"] > 0:
                buf = state["momentum_buffer"]
                buf.mul_(group["momentum"]).addcdiv_(grad, avg)
                p.add_(buf, alpha=-lr)
            else:
                p.addcdiv_(grad, avg, value=-lr)


class Adagrad(Optimizer):
    def __init__(self, params, lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, fused=fused))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["step"] = self._step_tensor()
                self.state[p]["sum"] = self._new(p, initial_accumulator_value)

    def _update(self, group):
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            clr = group["lr"] / (1 + (_to_float(state["step"]) - 1) * group["lr_decay"])
            state["sum"].addcmul_(grad, grad, value=1)
            std = state["sum"].sqrt().add_(group["eps"])
            p.addcdiv_(grad, std, value=-clr)


class Adadelta(Optimizer):
    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0, foreach=None, *, capturable=False,
                 maximize=False, differentiable=False):
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      capturable=capturable, foreach=foreach, differentiable=differentiable))

    def _begin(self, p, state, group):
        state["step"] = self._step_tensor()
        state["square_avg"] = self._new(p)
        state["acc_delta"] = self._new(p)

    def _update(self, group):
        rho = group["rho"]
        for p, grad, state in self._each(group):
            state["step"].add_(1)
            state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
            std = state["square_avg"].add(group["eps"]).sqrt_()
            delta = state["acc_delta"].add(group["eps"]).sqrt_().div_(std).mul_(grad)
            state["acc_delta"].mul_(rho).addcmul_(delta, delta, value=1 - rho)
            p.add_(delta, alpha=-group["lr"])


# Points of a line search are (how far, loss, gradient, slope).
def _cubic_minimum(a, b, limits=None):
    x1, f1, _, g1 = a
    x2, f2, _, g2 = b
    low, high = limits if limits is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 ** 2 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def _kept(point):
    return point[0], point[1], point[2].clone(), point[3]


def _order(bracket):
    return (0, 1) if bracket[0][1] <= bracket[-1][1] else (1, 0)


# Where too near to an end of the bracket: twice in a row, or beyond, it is a tenth away from it.
def _inside(t, low, high, was_near):
    margin = 0.1 * (high - low)
    if not min(high - t, t - low) < margin:
        return t, False
    if not (was_near or t >= high or t <= low):
        return t, True
    return (high - margin if abs(t - high) < abs(t - low) else low + margin), False


def _strong_wolfe(evaluate, t, d, f, g, gtd, max_ls, c1=1e-4, c2=0.9, tolerance_change=1e-9):
    size = d.abs().max()
    previous = start = (0, f, g.clone(), gtd)
    new = evaluate(t)
    evaluations, steps, done, near = 1, 0, False, False
    while steps < max_ls:
        if new[1] > f + c1 * t * gtd or (steps > 1 and new[1] >= previous[1]):
            bracket = [previous, _kept(new)]
            break
        if abs(new[3]) <= -c2 * gtd:
            bracket, done = [new], True
            break
        if new[3] >= 0:
            bracket = [previous, _kept(new)]
            break
        t = _cubic_minimum(previous, new, (t + 0.01 * (t - previous[0]), t * 10))
        previous = _kept(new)
        new = evaluate(t)
        evaluations += 1
        steps += 1
    else:
        bracket = [start, new]
    low, high = _order(bracket)
    while not done and steps < max_ls:
        ends = bracket[0][0], bracket[1][0]
        if abs(ends[1] - ends[0]) * size < tolerance_change:
            break
        t, near = _inside(_cubic_minimum(*bracket), min(ends), max(ends), near)
        new = evaluate(t)
        evaluations += 1
        steps += 1
        if new[1] > f + c1 * t * gtd or new[1] >= bracket[low][1]:
            bracket[high] = _kept(new)
            low, high = _order(bracket)
            continue
        if abs(new[3]) <= -c2 * gtd:
            done = True
        elif new[3] * (bracket[high][0] - bracket[low][0]) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = _kept(new)
    t, f, g, _ = bracket[low]
    return f, g, t, evaluations


class LBFGS(Optimizer):
    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-07, tolerance_change=1e-09,
                 history_size=100, line_search_fn=None):
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad,
                                      tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self):
        return torch.cat([p.new_zeros(p.numel()) if p.grad is None else p.grad.view(-1) for p in self._params], 0)

    def _move(self, length, direction):
        offset = 0
        for p in self._params:
            p.add_(direction[offset:offset + p.numel()].view_as(p), alpha=length)
            offset += p.numel()

    def _evaluate(self, closure, x, t, d):
        self._move(t, d)
        loss = float(closure())
        flat_grad = self._flat_grad()
        for p, was in zip(self._params, x):
            p.copy_(was)
        return t, loss, flat_grad, flat_grad.dot(d)

    def _search(self, closure, t, d, loss, flat_grad, gtd, max_ls):
        if self.param_groups[0]["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        x = [p.clone() for p in self._params]
        return _strong_wolfe(lambda at: self._evaluate(closure, x, at, d), t, d, loss, flat_grad, gtd, max_ls)

    @torch.no_grad()
    def step(self, closure):
        closure = torch.enable_grad()(closure)
        group = self.param_groups[0]
        lr, max_iter = _to_float(group["lr"]), group["max_iter"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss = float(first)
        evaluations = 1
        state["func_evals"] += 1
        flat_grad = self._flat_grad()
        done = flat_grad.abs().max() <= group["tolerance_grad"]
        if done:
            return first
        names = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
        d, t, dirs, steps, ro, diagonal, prev_flat_grad, prev_loss = [state.get(name) for name in names]
        n_iter = 0
        while n_iter < max_iter:
            n_iter += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d, dirs, steps, ro, diagonal = flat_grad.neg(), [], [], [], 1
            else:
                # The newest curvature joins the history, and the next direction comes of all of it.
                y = flat_grad.sub(prev_flat_grad)
                s = d.mul(t)
                ys = y.dot(s)
                if ys > 1e-10:
                    if len(dirs) == group["history_size"]:
                        for history in (dirs, steps, ro):
                            history.pop(0)
                    dirs.append(y)
                    steps.append(s)
                    ro.append(1.0 / ys)
                    diagonal = ys / y.dot(y)
                al = state.setdefault("al", [None] * group["history_size"])
                q = flat_grad.neg()
                for i in range(len(dirs) - 1, -1, -1):
                    al[i] = steps[i].dot(q) * ro[i]
                    q.add_(dirs[i], alpha=-al[i])
                d = r = torch.mul(q, diagonal)
                for i in range(len(dirs)):
                    be = dirs[i].dot(r) * ro[i]
                    r.add_(steps[i], alpha=al[i] - be)
            if prev_flat_grad is None:
                prev_flat_grad = flat_grad.clone()
            else:
                prev_flat_grad.copy_(flat_grad)
            prev_loss = loss
            t = min(1.0, 1.0 / flat_grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            gtd = flat_grad.dot(d)
            if gtd > -group["tolerance_change"]:
                break
            more = 0
            if group["line_search_fn"] is not None:
                loss, flat_grad, t, more = self._search(closure, t, d, loss, flat_grad, gtd,
                                                        group["max_eval"] - evaluations)
            self._move(t, d)
            if group["line_search_fn"] is None and n_iter != max_iter:
                loss = float(closure())
                flat_grad = self._flat_grad()
                more = 1
            if more:
                done = flat_grad.abs().max() <= group["tolerance_grad"]
            evaluations += more
            state["func_evals"] += more
            if n_iter == max_iter or evaluations >= group["max_eval"] or done:
                break
            if d.mul(t).abs().max() <= group["tolerance_change"] or abs(loss - prev_loss) < group["tolerance_change"]:
                break
        state.update(zip(names, (d, t, dirs, steps, ro, diagonal, prev_flat_grad, prev_loss)))
        return first


class SparseAdam(Adam):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        _support.unknown("torch.optim.SparseAdam")
