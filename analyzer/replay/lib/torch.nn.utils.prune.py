import torch
from torch.nn.utils import parameters_to_vector


def _amount(amount, size):
    return amount if isinstance(amount, int) else round(amount * size)


def _checked(amount, size):
    if isinstance(amount, int) and amount > size:
        raise ValueError("amount=%s should be smaller than the number of parameters to prune=%s" % (amount, size))
    return _amount(amount, size)


class BasePruningMethod:
    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        raise NotImplementedError

    def apply_mask(self, module):
        mask = getattr(module, self._tensor_name + "_mask")
        orig = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        method = cls(*args, **kwargs)
        for key, old in list(module._forward_pre_hooks.items()):
            if isinstance(old, BasePruningMethod) and old._tensor_name == name:
                del module._forward_pre_hooks[key]
                container = old if isinstance(old, PruningContainer) else PruningContainer(old)
                container.add_pruning_method(method)
                method = container
        method._tensor_name = name
        orig = getattr(module, name)
        scores = orig if importance_scores is None else importance_scores
        if isinstance(method, PruningContainer):
            before = getattr(module, name + "_mask").detach().clone()
        else:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            before = torch.ones_like(orig)
        with torch.no_grad():
            mask = method.compute_mask(scores, default_mask=before)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        default_mask = torch.ones_like(t) if default_mask is None else default_mask
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module):
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig = module._parameters.pop(name + "_orig")
        orig.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    def __init__(self, *args):
        self._pruning_methods = ()
        methods = args if len(args) != 1 or isinstance(args[0], BasePruningMethod) else args[0]
        self._tensor_name = methods[0]._tensor_name if methods else None
        for method in methods:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    # The newest method sees what the others have left.
    def compute_mask(self, t, default_mask):
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            left = (slice(None),) * dim + (default_mask.sum(dim=others) != 0,)
        else:
            left = (slice(None),) * t.dim()
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask


class RandomUnstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        self.amount = amount

    def _order(self, t):
        return torch.rand_like(t), True

    def compute_mask(self, t, default_mask):
        count = _checked(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            scores, largest = self._order(t)
            mask.view(-1)[torch.topk(scores.view(-1), k=count, largest=largest).indices] = 0
        return mask


class L1Unstructured(RandomUnstructured):
    def _order(self, t):
        return torch.abs(t), False


class RandomStructured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        self.amount = amount
        self.dim = dim

    def _kept(self, t, size, count):
        drawn = torch.rand(size)
        return drawn > torch.kthvalue(drawn, k=count).values

    def compute_mask(self, t, default_mask):
        size = t.shape[self.dim]
        count = _checked(self.amount, size)
        if not count:
            return default_mask
        mask = torch.zeros_like(t)
        mask[(slice(None),) * (self.dim % t.dim()) + (self._kept(t, size, count),)] = 1
        mask *= default_mask.to(dtype=mask.dtype)
        return mask


class LnStructured(RandomStructured):
    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t, size, count):
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norm = torch.norm(t, p=self.n, dim=others)
        return torch.topk(norm, k=size - count, largest=True).indices


class CustomFromMask(BasePruningMethod):
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    parameters = list(parameters)
    scores = importance_scores or {}
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container = PruningContainer(method)
    values = parameters_to_vector([scores.get((m, name), getattr(m, name)) for m, name in parameters])
    before = parameters_to_vector([getattr(m, name + "_mask", torch.ones_like(getattr(m, name)))
                                   for m, name in parameters])
    with torch.no_grad():
        mask = container.compute_mask(values, before)
    at = 0
    for module, name in parameters:
        param = getattr(module, name)
        custom_from_mask(module, name, mask=mask[at:at + param.numel()].view_as(param))
        at += param.numel()


def remove(module, name):
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError("Parameter '%s' of module %s has to be pruned before pruning can be removed" % (name, module))


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod)
               for _, part in module.named_modules() for hook in part._forward_pre_hooks.values())
