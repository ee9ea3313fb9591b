import weakref
import _support
import _torch
import torch


class _Handle:
    def __init__(self, hooks, key):
        self._owner = hooks
        self.id = key

    def remove(self):
        module = self._owner[0]()
        if module is not None:
            module.__dict__[self._owner[1]].pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class Module(_torch.ModuleBase):
    def forward(self, *input):
        raise NotImplementedError("Module [%s] is missing the required \"forward\" function" % type(self).__name__)

    def register_buffer(self, name, tensor, persistent=True):
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError("attribute '%s' already exists" % name)
        self._buffers[name] = tensor
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        if param is None:
            self._parameters[name] = None
        else:
            setattr(self, name, param)

    def add_module(self, name, module):
        self._modules[name] = module

    register_module = add_module

    def children(self):
        for name, module in self.named_children():
            yield module

    def named_children(self):
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        if memo is None:
            memo = set()
        if self not in memo:
            if remove_duplicate:
                memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None and not _support.is_unknown(module):
                    yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def _named_members(self, which, prefix="", recurse=True, remove_duplicate=True):
        memo = set()
        modules = self.named_modules(prefix=prefix) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for k, v in module.__dict__[which].items():
                if v is None or v in memo:
                    continue
                if remove_duplicate:
                    memo.add(v)
                yield module_prefix + ("." if module_prefix else "") + k, v

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        yield from _torch.module_parameters(self, recurse)

    def train(self, mode=True):
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def zero_grad(self, set_to_none=True):
        if set_to_none:
            return _torch.drop_gradients(self.parameters())
        for p in self.parameters():
            if p.grad is not None:
                if p.grad.grad_fn is not None:
                    p.grad.detach_()
                else:
                    p.grad.requires_grad_(False)
                p.grad.zero_()


# A hook of the graph's last node, as register_backward_hook makes it.
class _OfGraph:
    def __init__(self, hook):
        self.hook = hook


# The gradients of a module's inputs and outputs pass through nodes of their own.
class _Gradients:
    def __init__(self, module, hooks, pre_hooks):
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs = None
        self.inputs = None

    def _through(self, values, is_input):
        from torch.nn.modules._functions import BackwardHookFunction
        places = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor)]
        tensors = [values[i] for i in places]
        if not torch.is_grad_enabled() or not any([t.requires_grad for t in tensors]):
            return values, None
        values = list(values)
        width = len(values)
        made = BackwardHookFunction.apply(self, is_input, places, width, *tensors)
        for i, t in zip(places, made):
            values[i] = t
        return tuple(values), places

    def enter(self, args):
        self.count = len(args)
        args, self.inputs = self._through(args, True)
        return args

    def leave(self, output):
        if isinstance(output, tuple):
            return self._through(output, False)[0]
        return self._through((output,), False)[0][0]

    def of_outputs(self, grads):
        for hook in self.pre_hooks:
            result = hook(self.module, grads)
            if result is not None:
                grads = result if isinstance(result, tuple) else (result,)
        self.grad_outputs = grads
        if self.inputs is None:
            self.of_inputs((None,) * self.count)
        return grads

    def of_inputs(self, grads):
        if self.grad_outputs is None:
            return grads
        for hook in self.hooks:
            result = hook(self.module, grads, self.grad_outputs)
            if result is not None:
                grads = result if isinstance(result, tuple) else (result,)
        self.grad_outputs = None
        return grads


# The rest of Module: merged into it when a name of it is first asked for.
class _More:
    def _call_with_hooks(self, *args, **kwargs):
        for hook in list(self._forward_pre_hooks.values()):
            if getattr(hook, "_with_kwargs", False):
                result = hook(self, args, kwargs)
                if result is not None:
                    args, kwargs = result
                continue
            result = hook(self, args)
            if result is not None:
                args = result if isinstance(result, tuple) else (result,)
        watch = None
        full = [hook for hook in self._backward_hooks.values() if not isinstance(hook, _OfGraph)]
        if full or self._backward_pre_hooks:
            watch = _Gradients(self, full, list(self._backward_pre_hooks.values()))
            args = watch.enter(args)
        output = self.forward(*args, **kwargs)
        for key, (hook, with_kwargs) in list(self._forward_hooks.items()):
            result = hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
            if result is not None:
                output = result
        if watch is not None:
            output = watch.leave(output)
        if len(full) < len(self._backward_hooks):
            self._hook_graph(output)
        return output

    def _hook_graph(self, output):
        while isinstance(output, (tuple, list, dict)):
            output = next(iter(output.values())) if isinstance(output, dict) else output[0]
        if not isinstance(output, torch.Tensor) or output.grad_fn is None:
            return
        for hook in list(self._backward_hooks.values()):
            if isinstance(hook, _OfGraph):
                def run(grad_inputs, grad_outputs, hook=hook.hook):
                    return hook(self, grad_inputs, grad_outputs)
                _torch.hook_node(output.grad_fn, run)

    def _add_hook(self, where, hook):
        hooks = self.__dict__[where]
        key = max(hooks, default=-1) + 1
        hooks[key] = hook
        return _Handle((weakref.ref(self), where), key)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return self._add_hook("_forward_hooks", (hook, with_kwargs))

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._add_hook("_forward_pre_hooks", hook)

    def register_full_backward_hook(self, hook, prepend=False):
        return self._add_hook("_backward_hooks", hook)

    def register_backward_hook(self, hook):
        return self._add_hook("_backward_hooks", _OfGraph(hook))

    def register_full_backward_pre_hook(self, hook, prepend=False):
        return self._add_hook("_backward_pre_hooks", hook)

    def get_submodule(self, target):
        module = self
        for part in target.split(".") if target else []:
            module = getattr(module, part)
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    get_buffer = get_parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for name, buf in self._named_members("_buffers", "", recurse):
            yield buf

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        for module in self.children():
            module._apply(fn)
        for p in self._parameters.values():
            if p is not None:
                with torch.no_grad():
                    applied = fn(p)
                if applied is not p:
                    p.data = applied
                if p.grad is not None:
                    with torch.no_grad():
                        grad = fn(p.grad)
                    if grad is not p.grad:
                        p.grad.data = grad
        for key, buf in self._buffers.items():
            if buf is not None:
                self._buffers[key] = fn(buf)
        return self

    def to(self, *args, **kwargs):
        dtype = kwargs.get("dtype")
        memory_format = kwargs.get("memory_format")
        for a in args:
            if isinstance(a, torch.dtype):
                dtype = a
            elif isinstance(a, torch.Tensor):
                dtype = a.dtype
        if dtype is None and memory_format is None:
            return self

        def convert(t):
            kind = dtype if dtype is not None and t.is_floating_point() else t.dtype
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(kind, memory_format=memory_format)
            return t.to(kind)

        return self._apply(convert)

    def cuda(self, device=None):
        return self

    def cpu(self):
        return self

    def xpu(self, device=None):
        return self

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        pass

    def float(self):
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        if destination is None:
            destination = {}
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buf in self._buffers.items():
            if buf is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buf if keep_vars else buf.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        return destination

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if _support.is_unknown(state_dict):
            return _Keys([], [])
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        errors = []
        if strict and missing:
            errors.append("Missing key(s) in state_dict: %s. " % _quoted(missing))
        if strict and unexpected:
            errors.append("Unexpected key(s) in state_dict: %s. " % _quoted(unexpected))
        with torch.no_grad():
            for name, value in state_dict.items():
                if name not in own or not isinstance(value, torch.Tensor):
                    continue
                if own[name].shape == value.shape:
                    own[name].copy_(value)
                else:
                    errors.append("size mismatch for %s: copying a param with shape %s from checkpoint, the shape in "
                                  "current model is %s." % (name, value.shape, own[name].shape))
        if errors:
            raise RuntimeError("Error(s) in loading state_dict for %s:\n\t%s"
                               % (type(self).__name__, "\n\t".join(errors)))
        return _Keys(missing, unexpected)

    def extra_repr(self):
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = []
        for key, module in self._modules.items():
            text = repr(module).split("\n")
            text = [text[0]] + ["  " + line for line in text[1:]]
            children.append("(" + key + "): " + "\n".join(text))
        main = self._get_name() + "("
        if lines and not children and len(lines) == 1:
            return main + lines[0] + ")"
        if lines or children:
            main += "\n  " + "\n  ".join(lines + children) + "\n"
        return main + ")"


def _quoted(names):
    return ", ".join(['"%s"' % name for name in names])


class _Keys:
    def __init__(self, missing_keys, unexpected_keys):
        self.missing_keys = missing_keys
        self.unexpected_keys = unexpected_keys

    def __iter__(self):
        return iter((self.missing_keys, self.unexpected_keys))

    def __getitem__(self, index):
        return (self.missing_keys, self.unexpected_keys)[index]

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return "_IncompatibleKeys(missing_keys=%r, unexpected_keys=%r)" % (self.missing_keys, self.unexpected_keys)
