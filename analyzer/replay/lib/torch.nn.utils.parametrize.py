import _support
import _torch
import torch
from torch.nn import Module, ModuleDict, ModuleList, Parameter


class ParametrizationList(ModuleList):
    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        is_parameter = isinstance(original, Parameter)
        new = original
        with torch.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    new = module.right_inverse(new)
        self.is_tensor = isinstance(new, torch.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new is not original:
                original.data = new.detach()
            self._keep("original", original, is_parameter)
        else:
            for i, part in enumerate(new):
                self._keep("original%d" % i, Parameter(part) if is_parameter else part, is_parameter)

    def _keep(self, name, tensor, is_parameter):
        if is_parameter:
            self.register_parameter(name, tensor)
        else:
            self.register_buffer(name, tensor)

    def forward(self):
        modules = list(self)
        if self.is_tensor:
            x = modules[0](self.original)
        else:
            x = modules[0](*[getattr(self, "original%d" % i) for i in range(self.ntensors)])
        for module in modules[1:]:
            x = module(x)
        return x


def _property(name):
    def get(self):
        return self.parametrizations[name]()

    def put(self, value):
        for module in reversed(list(self.parametrizations[name])):
            value = module.right_inverse(value)
        self.parametrizations[name].original.data = value
    return property(get, put)


def _inject_class(module):
    base = type(module)
    module.__class__ = type("Parametrized" + base.__name__, (base,), {})
    module.parametrizations = ModuleDict()


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    if _support.is_unknown(module) or _support.is_unknown(parametrization) or _torch.inexact() \
            and tensor_name not in module._parameters and not is_parametrized(module, tensor_name):
        _support.unknown("torch.nn.utils.parametrize.register_parametrization()")
        return module
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    original = module._parameters.get(tensor_name, module._buffers.get(tensor_name))
    if original is None:
        raise ValueError("Module '%s' does not have a parameter, a buffer, or a parametrized element with name '%s'"
                         % (module, tensor_name))
    parametrizations = ParametrizationList([parametrization], original, unsafe)
    if not is_parametrized(module):
        _inject_class(module)
    delattr(module, tensor_name)
    setattr(type(module), tensor_name, _property(tensor_name))
    module.parametrizations[tensor_name] = parametrizations
    return module


def is_parametrized(module, tensor_name=None):
    parametrizations = module._modules.get("parametrizations")
    if parametrizations is None:
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    parametrizations = module.parametrizations[tensor_name]
    if leave_parametrized:
        with torch.no_grad():
            value = getattr(module, tensor_name)
        original = Parameter(value) if list(parametrizations.parameters(recurse=False)) else value
    else:
        original = parametrizations.original
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if len(module.parametrizations) == 0:
        del module._modules["parametrizations"]
        module.__class__ = type(module).__bases__[0]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    return module


class cached:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None


def type_before_parametrizations(module):
    return type(module).__bases__[0] if is_parametrized(module) else type(module)
