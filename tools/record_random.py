"""The random streams of PyTorch and Python, recorded as calls and the values they gave."""

import random
import struct

import torch
from torch import nn

# Longer results are recorded as a hash of their bytes.
LONGEST_LIST = 24


def fnv(data):
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def bits_of(tensor):
    """The bytes of a tensor, little endian, in row order."""
    tensor = tensor.detach().contiguous()
    code = {torch.float32: "f", torch.float64: "d", torch.int64: "q"}[tensor.dtype]
    values = tensor.flatten().tolist()
    return struct.pack("<%d%s" % (len(values), code), *values)


def recorded(tensor):
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    out = {"n": tensor.numel()}
    if tensor.numel() <= LONGEST_LIST:
        out["values"] = tensor.detach().flatten().tolist()
    else:
        out["fnv"] = "%016x" % fnv(bits_of(tensor))
    return out


def draw(call, dtype, count, args):
    """One call on the default generator; the C test makes the same from these fields."""
    kind = getattr(torch, dtype)
    if call == "uniform":
        return torch.empty(count, dtype=kind).uniform_(*args)
    if call == "normal":
        return torch.empty(count, dtype=kind).normal_(*args)
    if call == "rand":
        return torch.rand(count, dtype=kind)
    if call == "randn":
        return torch.randn(count, dtype=kind)
    if call == "exponential":
        return torch.empty(count, dtype=kind).exponential_(*args)
    if call == "bernoulli":
        return torch.empty(count, dtype=kind).bernoulli_(*args)
    if call == "bernoulli_each":
        return torch.bernoulli(torch.linspace(0, 1, count, dtype=kind))
    if call == "dropout":
        return nn.functional.dropout(torch.ones(count, dtype=kind), *args, training=True)
    if call == "randint":
        return torch.randint(*args, (count,))
    if call == "randperm":
        return torch.randperm(count)
    if call == "multinomial":
        rows, categories, samples, replacement = args
        # Distinct weights, some zero, that are exact in both precisions.
        weights = (torch.arange(rows * categories) * 7 % 16).reshape(rows, categories).to(kind)
        return torch.multinomial(weights, samples, replacement=bool(replacement))
    raise ValueError(call)


def calls():
    for dtype in ("float32", "float64"):
        for count in (1, 3, 15, 16, 17, 24, 100, 1003):
            yield "rand", dtype, count, []
            yield "randn", dtype, count, []
            yield "uniform", dtype, count, [-0.37, 1.91]
            yield "normal", dtype, count, [0.25, 0.7]
        for count in (5, 20, 500):
            yield "exponential", dtype, count, [1.5]
            yield "bernoulli", dtype, count, [0.3]
            yield "bernoulli_each", dtype, count, []
            for p in (0.1, 0.5, 0.7):
                yield "dropout", dtype, count, [p]
        for args in ([1, 5, 1, 0], [1, 9, 4, 0], [3, 40, 25, 0], [1, 6, 8, 1], [4, 33, 10, 1], [3, 6, 1, 1]):
            yield "multinomial", dtype, args[0] * args[2], args
    for dtype in ("bfloat16", "float16"):
        for count in (7, 16, 50):
            yield "randn", dtype, count, []
    for args in ([0, 2], [-5, 100], [0, 1 << 28], [0, (1 << 28) - 1], [-(1 << 40), 1 << 41]):
        for count in (6, 60):
            yield "randint", "int64", count, args
    for count in (0, 1, 10, 300):
        yield "randperm", "int64", count, []


def record_streams():
    streams = []
    for seed in (0, 1, 1234, (1 << 63) + 12345):
        torch.manual_seed(seed)
        draws = []
        for call, dtype, count, args in calls():
            row = {"call": call, "dtype": dtype, "args": args}
            row.update(recorded(draw(call, dtype, count, args)))
            draws.append(row)
        streams.append({"seed": str(seed), "draws": draws})
    return streams


def python_draw(source, call, args):
    if call in ("random", "getrandbits", "randrange", "randint", "uniform", "gauss",
                "normalvariate", "expovariate"):
        return [getattr(source, call)(*args)]
    if call == "shuffle":
        items = list(range(args[0]))
        source.shuffle(items)
        return items
    if call == "choice":
        return [source.choice(range(args[0]))]
    if call == "sample":
        return source.sample(range(args[0]), args[1])
    if call == "choices":
        return source.choices(range(args[0]), k=args[1])
    if call == "choices_weighted":
        return source.choices(range(args[0]), [i % 3 + 0.5 for i in range(args[0])], k=args[1])
    raise ValueError(call)


PYTHON_CALLS = [
    ("random", []), ("random", []), ("getrandbits", [1]), ("getrandbits", [32]),
    ("getrandbits", [33]), ("getrandbits", [63]), ("randrange", [1]), ("randrange", [10]),
    ("randrange", [1 << 40]), ("randint", [-3, 3]), ("randint", [0, (1 << 62)]),
    ("uniform", [-1.5, 2.25]), ("gauss", [0.0, 1.0]), ("gauss", [5.0, 0.1]),
    ("gauss", [0.0, 1.0]), ("normalvariate", [1.0, 2.0]), ("expovariate", [0.5]),
    ("shuffle", [0]), ("shuffle", [1]), ("shuffle", [20]), ("choice", [7]),
    ("sample", [10, 3]), ("sample", [10, 10]), ("sample", [1000, 4]), ("sample", [1000, 12]),
    ("sample", [85, 20]), ("sample", [100000, 24]), ("choices", [9, 12]),
    ("choices_weighted", [9, 12]), ("random", []),
]


def record_python():
    streams = []
    for seed in (0, 1, -7, 42, 1 << 33, (1 << 63) - 1):
        source = random.Random(seed)
        draws = [{"call": call, "args": args, "values": python_draw(source, call, args)}
                 for call, args in PYTHON_CALLS]
        streams.append({"seed": seed, "draws": draws})
    return streams


def init_calls():
    """Name, shape, arguments by name; the names are the C function's too."""
    for shape in ([3, 5], [20, 30], [4, 3, 2, 2]):
        yield "xavier_uniform_", shape, {"gain": 1.5}
        yield "xavier_normal_", shape, {"gain": 0.5}
        yield "kaiming_uniform_", shape, {"a": 0.0, "mode": "fan_in", "nonlinearity": "relu"}
        yield "kaiming_uniform_", shape, {"a": 0.2, "mode": "fan_out",
                                          "nonlinearity": "leaky_relu"}
        yield "kaiming_normal_", shape, {"a": 0.0, "mode": "fan_out", "nonlinearity": "tanh"}
        yield "kaiming_normal_", shape, {"a": 0.0, "mode": "fan_in", "nonlinearity": "selu"}
        yield "trunc_normal_", shape, {"mean": 0.0, "std": 0.02, "a": -2.0, "b": 2.0}
        yield "trunc_normal_", shape, {"mean": 0.0, "std": 1.0, "a": -0.5, "b": 1.0}
        yield "trunc_normal_", shape, {"mean": 0.0, "std": 1.0, "a": 1.0, "b": 3.0}
        yield "orthogonal_", shape, {"gain": 1.0}
    yield "orthogonal_", [9, 4], {"gain": 2.0}
    yield "sparse_", [10, 4], {"sparsity": 0.3, "std": 0.5}
    yield "eye_", [3, 4], {}
    yield "dirac_", [4, 2, 3], {"groups": 2}


def record_init():
    rows = []
    for dtype in ("float32", "float64"):
        for seed, (call, shape, args) in enumerate(init_calls()):
            torch.manual_seed(seed)
            out = torch.empty(shape, dtype=getattr(torch, dtype))
            getattr(nn.init, call)(out, **args)
            row = {"seed": seed, "call": call, "dtype": dtype, "shape": shape, "args": args}
            if call == "orthogonal_":  # equal to rounding only
                row.update(n=out.numel(), values=out.flatten().tolist())
            else:
                row.update(recorded(out))
            rows.append(row)
    return rows


LAYERS = [
    ("linear", lambda: nn.Linear(7, 3)), ("linear", lambda: nn.Linear(30, 20, bias=False)),
    ("linear", lambda: nn.Conv1d(4, 6, 3, groups=2)), ("linear", lambda: nn.Conv2d(3, 8, 3)),
    ("linear", lambda: nn.Conv3d(2, 3, 2)), ("linear", lambda: nn.ConvTranspose2d(3, 5, 2)),
    ("bilinear", lambda: nn.Bilinear(3, 4, 5)), ("embedding", lambda: nn.Embedding(6, 3)),
    ("embedding", lambda: nn.Embedding(10, 4, padding_idx=2)),
    ("recurrent", lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True)),
    ("recurrent", lambda: nn.GRU(3, 4)), ("recurrent", lambda: nn.RNN(5, 2, bias=False)),
    ("recurrent", lambda: nn.LSTMCell(3, 4)), ("recurrent", lambda: nn.LSTM(4, 6, proj_size=2)),
    ("attention", lambda: nn.MultiheadAttention(4, 2)),
    ("attention", lambda: nn.MultiheadAttention(4, 2, bias=False)),
    ("attention", lambda: nn.MultiheadAttention(6, 3, kdim=2, vdim=5, add_bias_kv=True)),
]


def record_layers():
    rows = []
    for seed, (kind, make) in enumerate(LAYERS):
        torch.manual_seed(seed)
        layer = make()
        row = {"seed": seed, "kind": kind, "layer": str(layer).split("(", 1)[0],
               "hidden": getattr(layer, "hidden_size", 0),
               "padding_idx": getattr(layer, "padding_idx", None),
               "next": torch.rand(2).tolist(), "parameters": []}
        if row["padding_idx"] is None:
            row["padding_idx"] = -1
        for name, parameter in layer.named_parameters():
            entry = {"name": name, "shape": list(parameter.shape)}
            entry.update(recorded(parameter))
            row["parameters"].append(entry)
        rows.append(row)
    return rows


def record():
    return {"random": record_streams(), "python": record_python(), "init": record_init(),
            "layers": record_layers()}
