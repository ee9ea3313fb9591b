"""The public names of PyTorch: which object, which canonical name, which aliases."""

import importlib
import inspect
import sys
import warnings

import torch

# Where names are looked for, in order of preference: the first that has an object names it.
NAMESPACES = """
torch torch.nn torch.nn.functional torch.optim torch.optim.lr_scheduler torch.optim.swa_utils
torch.autograd torch.autograd.forward_ad torch.autograd.functional torch.autograd.graph
torch.autograd.profiler torch.linalg torch.fft torch.special torch.nn.init torch.nn.utils
torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.nn.utils.prune
torch.nn.utils.rnn torch.nn.utils.stateless torch.nn.utils.fusion torch.nn.parallel
torch.nn.attention torch.nn.attention.flex_attention torch.distributions
torch.distributions.transforms torch.distributions.constraints torch.distributions.kl
torch.utils.data torch.utils.data.distributed torch.utils.checkpoint torch.utils.tensorboard
torch.utils.hooks torch.utils.dlpack torch.utils.cpp_extension torch.utils.benchmark
torch.cuda torch.cuda.amp torch.cuda.random torch.cuda.memory torch.cuda.profiler torch.cuda.nvtx
torch.amp torch.cpu torch.cpu.amp torch.mps torch.xpu torch.accelerator torch.func torch.sparse
torch.nested torch.masked torch.jit torch.fx torch.compiler torch.export torch.onnx torch.hub
torch.random torch.overrides torch.profiler torch.library torch.package torch.testing
torch.multiprocessing torch.futures torch.serialization torch.storage torch.monitor
torch.backends torch.backends.cudnn torch.backends.cuda torch.backends.mkldnn torch.backends.mps
torch.distributed torch.distributed.fsdp torch.distributed.optim torch.distributed.tensor
torch.distributed.tensor.parallel torch.distributed.checkpoint torch.distributed.rpc
torch.distributed.autograd torch.distributed.nn torch.distributed.nn.functional
torch.distributed.algorithms.join torch.distributed.device_mesh torch.distributed.pipelining
torch.distributed.elastic.multiprocessing.errors torch.distributed.checkpoint.state_dict
torch.ao.quantization torch.ao.nn.quantized torch.ao.nn.qat torch.ao.pruning torch.quantization
torch.return_types torch.signal.windows torch.types torch.version torch.utils
torch.nn.quantizable torch.nn.intrinsic torch.nn.qat
""".split()


def modules():
    """The namespaces that this PyTorch has, in order."""
    found = []
    for name in NAMESPACES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append((name, importlib.import_module(name)))
        except Exception:
            continue
    return found


def public(module):
    """(name, object) of a module, without what it merely imported from outside of torch."""
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = getattr(module, name)
            except Exception:
                continue
        if inspect.ismodule(value) or not callable(value):
            continue
        origin = getattr(value, "__module__", None) or "torch"
        if not isinstance(origin, str):
            continue
        if origin.split(".")[0] not in ("torch", "torchgen", "functorch"):
            continue
        yield name, value


class Names:
    """Canonical names by object, and the other way round."""

    def __init__(self):
        self.objects = {}
        self.canonical = {}
        candidates = {}
        for prefix, module in modules():
            for name, value in public(module):
                candidates.setdefault(id(value), (value, []))[1].append(f"{prefix}.{name}")
        for value, names in candidates.values():
            origin = getattr(value, "__module__", None) or "torch"
            home = [n for n in names if f"{origin}.".startswith(n.rsplit(".", 1)[0] + ".")]
            self.canonical[id(value)] = (home or names)[0]
            for full in names if inspect.isbuiltin(value) else (home or names)[:1]:
                self.objects[full] = value
        self.drop_type_names()

    def drop_type_names(self):
        """Type variables and typing helpers that happen to be importable."""
        for full in [f for f, v in self.objects.items() if not hasattr(v, "__name__")]:
            value = self.objects[full]
            if type(value).__module__ in ("typing", "types"):
                del self.objects[full]

    def classes(self):
        return {full: value for full, value in self.objects.items() if inspect.isclass(value)}

    def base(self, cls):
        """The canonical name of the nearest base that has one."""
        for base in cls.__mro__[1:]:
            name = self.canonical.get(id(base))
            if name in self.objects:
                return name
            if base in (dict, list, tuple, set):
                return base.__name__
        return ""

    def aliases(self):
        """Other dotted names of the same objects; whole modules as prefixes."""
        found = {}
        for module_name, module in sorted(sys.modules.items()):
            if module is None or not module_name.startswith("torch."):
                continue
            if any(p.startswith("_") for p in module_name.split(".")[1:]) and module_name not in (
                "torch._tensor",
                "torch._C",
            ):
                continue
            if "testing" in module_name or ".test" in module_name:
                continue
            self.module_aliases(module_name, module, found)
        return found

    def module_aliases(self, module_name, module, found):
        moved = {}
        stay = module_name in NAMESPACES
        for name, value in public(module):
            canonical = self.canonical.get(id(value))
            full = f"{module_name}.{name}"
            if canonical in self.objects and full not in self.objects:
                if stay or getattr(value, "__module__", None) == module_name:
                    moved[full] = canonical
        if stay:
            found.update(moved)
            return
        plain = [c for f, c in moved.items() if f.split(".")[-1] == c.split(".")[-1]]
        prefixes = [canonical.rsplit(".", 1)[0] for canonical in plain]
        if not prefixes:
            return
        common = max(sorted(set(prefixes)), key=prefixes.count)
        found[module_name] = common
        for full, canonical in moved.items():
            if f"{common}.{full.split('.')[-1]}" != canonical:
                found[full] = canonical
