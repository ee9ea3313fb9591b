"""What PyTorch's ops give and keep: results, gradients, saved bytes and nodes.

A row of record_ops_rows.py is a line of Python and the inputs that it works on. The line is run
under real PyTorch; for the tests it is also written as steps: calls by name whose arguments are
numbers, texts, lists and registers ({"r": 3}), registers 0.. being the inputs. Inputs are made
from a seed, so that the tests make the same ones and only results and gradients are recorded.

Fields of a row
  name, code, inputs, steps, results (registers that are the row's results)
  differences  whether differences of results show the gradients
  memory   per choice of inputs that require grad, for inputs in float16, and for inputs in another
           layout ("inputs"):
           nodes: nodes added by the row, results first (AccumulateGrad not counted)
           new: bytes the row left allocated; kept: bytes live when only the results are held;
           after: those bytes after backward; outputs: shape, strides, dtype, requires_grad,
           storage bytes
  autocast the same as the first of `memory`, under torch.autocast("cpu", dtype=torch.bfloat16);
           null where PyTorch raises, missing where nothing differs
  values   per choice of shapes ("default": the default dtype that the row ran with): outputs and gradients of sum(output * weight), where element i
           of a weight is (i * 7 % 11 - 5) / 4; "error" where PyTorch raises
  second   for the inputs in double: the gradients of sum(gradient * weight) by the inputs and by
           the weights of the first order, null if PyTorch has none
"""

import ast
import contextlib
import warnings

import numpy
import torch
import torch.nn.functional as F
from torch import nn

from record_ops_rows import NO_DIFFERENCES, ROWS

SEED = 7            # set right before a row runs
INPUT_SEED = 1234   # set before the inputs are made

# ---------------------------------------------------------------- inputs

CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


def parse_input(text):
    """"x=u:3,4/float64": name, kind (randn if none), shape ("." is 0-dim), dtype."""
    name, rest = text.split("=")
    rest, _, dtype = rest.partition("/")
    kind, colon, shape = rest.rpartition(":")
    spec = {"name": name, "kind": kind if colon else "randn",
            "shape": [] if shape == "." else [int(n) for n in shape.split(",")]}
    if spec["kind"][0] == "i" and spec["kind"][1:].isdigit():
        spec["high"] = int(spec["kind"][1:])
        spec["kind"] = "int"
    spec["dtype"] = dtype or {"int": "int64", "bool": "bool"}.get(spec["kind"], "float32")
    return spec


def parse_inputs(text):
    return [parse_input(part) for part in text.split()]


def make_input(spec):
    value = make_contiguous(spec)
    if spec.get("layout") == "channels_last":
        return value.to(memory_format=CHANNELS_LAST[len(spec["shape"])])
    if spec.get("layout") == "transposed":
        return value.transpose(-1, -2).contiguous().transpose(-1, -2)
    return value


def make_contiguous(spec):
    shape, dtype = spec["shape"], getattr(torch, spec["dtype"])
    kind = spec["kind"]
    if kind == "randn":
        return torch.randn(shape).to(dtype)
    if kind == "u":  # inside (0.1, 0.9)
        return (torch.rand(shape) * 0.8 + 0.1).to(dtype)
    if kind == "int":
        return torch.randint(0, spec["high"], shape).to(dtype)
    if kind == "bool":  # about half of them true
        return (torch.arange(torch.Size(shape).numel()) % 2 == 0).reshape(shape)
    if kind == "ones":
        return torch.ones(shape, dtype=dtype)
    if kind == "quarter":
        return torch.full(shape, 0.25, dtype=dtype)
    if kind == "spd":  # symmetric, well conditioned
        return (torch.eye(shape[-1]) + 0.125).expand(shape).contiguous().to(dtype)
    raise ValueError(kind)


def make_inputs(specs):
    torch.manual_seed(INPUT_SEED)
    return [make_input(spec) for spec in specs]


# ----------------------------------------------------------------- steps

BINARY = {ast.Add: "torch.add", ast.Sub: "torch.sub", ast.Mult: "torch.mul",
          ast.Div: "torch.div", ast.MatMult: "torch.matmul", ast.Pow: "torch.pow",
          ast.Mod: "torch.remainder", ast.FloorDiv: "torch.floor_divide"}
COMPARE = {ast.Eq: "torch.eq", ast.NotEq: "torch.ne", ast.Lt: "torch.lt", ast.LtE: "torch.le",
           ast.Gt: "torch.gt", ast.GtE: "torch.ge"}
FIELDS = {"values": 0, "indices": 1, "eigenvalues": 0, "eigenvectors": 1}
FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


class Steps:
    """Compiles a line of Python to steps. Registers are numbered as steps come."""

    def __init__(self, names):
        self.registers = {name: i for i, name in enumerate(names)}
        self.count = len(names)
        self.steps = []

    def add(self, **step):
        self.steps.append(step)
        self.count += 1
        return {"r": self.count - 1}

    def call(self, name, args, keywords=None):
        step = {"call": name, "args": args}
        if keywords:
            step["kw"] = keywords
        return self.add(**step)

    def expression(self, node):
        return getattr(self, "_" + type(node).__name__)(node)

    def _Constant(self, node):
        return node.value

    def _List(self, node):
        return [self.expression(item) for item in node.elts]

    _Tuple = _List

    def _Name(self, node):
        return {"r": self.registers[node.id]}

    def _UnaryOp(self, node):
        value = self.expression(node.operand)
        if isinstance(value, dict):
            return self.call("torch.neg", [value])
        return -value

    def _BinOp(self, node):
        left, right = self.expression(node.left), self.expression(node.right)
        name = BINARY[type(node.op)]
        if isinstance(left, dict) or name == "torch.pow":
            return self.call(name, [left, right])
        if name == "torch.sub":     # what Tensor.__rsub__ does
            return self.call("torch.rsub", [right, left])
        if name == "torch.div":     # what Tensor.__rtruediv__ does
            return self.call("torch.mul", [self.call("torch.reciprocal", [right]), left])
        return self.call(name, [right, left])

    def _Compare(self, node):
        return self.call(COMPARE[type(node.ops[0])],
                         [self.expression(node.left), self.expression(node.comparators[0])])

    def index(self, node):
        """[5], [[start, stop, step]] with null, "...", null for a new axis, or a register."""
        items = node.elts if isinstance(node, ast.Tuple) else [node]
        out = []
        for item in items:
            if isinstance(item, ast.Slice):
                parts = [item.lower, item.upper, item.step]
                out.append([p and self.expression(p) for p in parts])
            elif isinstance(item, ast.Constant) and item.value is Ellipsis:
                out.append("...")
            elif isinstance(item, ast.List):
                values = self.expression(item)
                out.append(self.call("torch.tensor", [values]))
            else:
                out.append(self.expression(item))
        return out

    def _Subscript(self, node):
        return self.add(index=self.expression(node.value), at=self.index(node.slice))

    def _Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "torch":
            return node.attr if node.attr in FORMATS else {"dtype": node.attr}
        if node.attr in FIELDS:
            return self.add(take=self.expression(node.value), which=FIELDS[node.attr])
        return self.call("Tensor." + node.attr, [self.expression(node.value)])

    def _Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "first":
            return self.add(take=self.expression(node.args[0]), which=0)
        keywords = {k.arg: self.expression(k.value) for k in node.keywords}
        if isinstance(node.func, ast.Call):  # nn.Linear(3, 4)(x)
            module = self.expression(node.func)
            return self.add(forward=module, args=[self.expression(a) for a in node.args],
                            kw=keywords)
        text = ast.unparse(node.func)
        if text.startswith("nn."):
            return self.add(module=text[3:], args=[self.expression(a) for a in node.args],
                            kw=keywords)
        if text.split(".")[0] in ("torch", "F") and "(" not in text:
            return self.call(text, [self.expression(a) for a in node.args], keywords)
        args = [self.expression(node.func.value)]
        return self.call("Tensor." + node.func.attr,
                         args + [self.expression(a) for a in node.args], keywords)

    def statement(self, node):
        if isinstance(node, ast.Expr):
            return self.expression(node.value)
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(node, ast.AugAssign):  # x += y
            value = [self.expression(target), self.expression(node.value)]
            return self.call(BINARY[type(node.op)].replace("torch.", "Tensor.") + "_", value)
        value = self.expression(node.value)
        if isinstance(target, ast.Name):
            self.registers[target.id] = value["r"]
            return value
        of = self.expression(target.value)
        return self.add(put=of, at=self.index(target.slice), value=value)


def compile_row(code, names):
    """Steps, and the registers that hold the results."""
    steps = Steps(names)
    result = None
    for statement in ast.parse(code).body:
        result = steps.statement(statement)
    return steps.steps, result if isinstance(result, list) else [result]


def first(results):
    return results[0]


def run_row(code, names, values):
    """Runs the line; returns the results as a flat list of tensors."""
    scope = {"torch": torch, "F": F, "nn": FrozenLayers(), "first": first}
    scope.update(zip(names, values))
    torch.manual_seed(SEED)
    body = ast.parse(code).body
    last = body.pop()
    exec(compile(ast.Module(body, []), "row", "exec"), scope)
    if isinstance(last, ast.Expr):
        out = eval(compile(ast.Expression(last.value), "row", "eval"), scope)
    else:
        exec(compile(ast.Module([last], []), "row", "exec"), scope)
        out = values[0]  # the first input, changed in place
    scope = None
    return flat(out)


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for item in value or () for t in flat(item)]


class FrozenLayers:
    """nn, but the parameters of what it makes do not require grad."""

    def __getattr__(self, name):
        def make(*args, **keywords):
            layer = getattr(nn, name)(*args, **keywords)
            return layer.requires_grad_(False)
        return make


# ---------------------------------------------------------------- memory

# Marks in the allocator's log: a block of a size that no row allocates.
MARK_BYTES = 1000033


class AllocationLog:
    """The profiler's record of the CPU allocator: live bytes at each mark."""

    def __init__(self):
        self.profile = torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True,
            record_shapes=False)

    def __enter__(self):
        self.profile.__enter__()
        return self

    def __exit__(self, *error):
        self.profile.__exit__(*error)

    @staticmethod
    def mark():
        torch.empty(MARK_BYTES, dtype=torch.uint8)

    def live_at_marks(self):
        changes = []
        todo = list(self.profile.profiler.kineto_results.experimental_event_tree())
        while todo:
            event = todo.pop()
            todo += event.children
            if event.tag == torch._C._profiler._EventType.Allocation:
                changes.append((event.start_time_ns, event.extra_fields.alloc_size))
        changes.sort(key=lambda change: change[0])
        live, marks = 0, []
        for _, size in changes:
            if size == MARK_BYTES:
                marks.append(live)
            elif size != -MARK_BYTES:
                live += size
        return marks


def nodes_of(results, stops):
    """The nodes between the results and the inputs' own nodes, results first."""
    found, todo = [], [r.grad_fn for r in results if r.grad_fn is not None]
    while todo:
        node = todo.pop(0)
        if node in found or node in stops or type(node).__name__ == "AccumulateGrad":
            continue
        found.append(node)
        todo += [edge for edge, _ in node.next_functions if edge is not None]
    return [type(node).__name__ for node in found]


def storage(tensor):
    block = tensor.untyped_storage()
    return block.data_ptr(), block.nbytes()


def run_for_memory(row, needs, around):
    """Five marks around the row (see `memory`), and what can be said without them."""
    specs = row["inputs"]
    names = [spec["name"] for spec in specs]
    values, leaves = make_inputs(specs), []
    for i, name in enumerate(names):
        if name in needs:
            leaves.append(values[i].requires_grad_(True))
            values[i] = leaves[-1].clone()  # so that nothing but the graph keeps it
    stops = {v.grad_fn for v in values if v.grad_fn is not None}
    AllocationLog.mark()
    with around:
        results = run_row(row["code"], names, values)
    AllocationLog.mark()
    out = {"needs": sorted(needs), "nodes": nodes_of(results, stops), "outputs": []}
    for r in results:
        out["outputs"].append({"shape": list(r.shape), "strides": list(r.stride()),
                               "dtype": str(r.dtype)[6:], "requires_grad": r.requires_grad, "bytes": storage(r)[1]})
    r = v = None
    values.clear()
    stops.clear()
    AllocationLog.mark()
    heads = [h for h in results if h.requires_grad]
    out["backward"] = bool(heads and leaves)
    if out["backward"]:
        torch.autograd.grad([h.sum() for h in heads], leaves, allow_unused=True)
    heads = h = None
    AllocationLog.mark()
    results.clear()
    AllocationLog.mark()
    return out


def memory(row, needs, around=contextlib.nullcontext()):
    with AllocationLog() as log:
        out = run_for_memory(row, needs, around)
    before, ran, dropped, backward, end = log.live_at_marks()
    out.update(new=ran - before, kept=dropped - end, after=backward - end)
    return out


# ---------------------------------------------------------------- values


def number(value, dtype):
    if dtype in (torch.float32, torch.float16, torch.bfloat16):
        value = float(str(numpy.float32(value)))  # as few digits as tell it apart
    elif dtype == torch.float64:
        value = float("%.11g" % value)
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return str(value)
    return value


def numbers(tensor):
    tensor = tensor.detach()
    if torch._is_zerotensor(tensor):  # zeros that were never allocated
        tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
    return [number(v, tensor.dtype) for v in tensor.flatten().tolist()]


def weight_like(tensor):
    i = torch.arange(tensor.numel())
    return (((i * 7) % 11 - 5) / 4).reshape(tensor.shape).to(tensor.dtype)


def described(tensor):
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:], "data": numbers(tensor)}


@contextlib.contextmanager
def default_of(case):
    torch.set_default_dtype(getattr(torch, case.get("default", "float32")))
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def values_case(row, specs, needs, **more):
    names = [spec["name"] for spec in specs]
    values, leaves = make_inputs(specs), []
    needs = {n for n, v in zip(names, values) if n in needs and v.is_floating_point()}
    for i, name in enumerate(names):
        if name in needs:
            leaves.append(values[i].requires_grad_(True))
            values[i] = leaves[-1].clone()
    case = dict(more, inputs=specs, needs=sorted(needs))
    try:
        with default_of(case):
            results = run_row(row["code"], names, values)
        heads = [r for r in results if r.requires_grad]
        case["error"] = None  # from here on: of the backward
        grads = torch.autograd.grad(heads, leaves, [weight_like(h) for h in heads],
                                    allow_unused=True) if heads and leaves else []
        del case["error"]
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        case["error"] = "Backward" if "error" in case else type(error).__name__
        return case
    case["outputs"] = [described(r) for r in results]
    case["grads"] = [None if g is None else numbers(g) for g in grads]
    return case


def second_order(row, specs, needs):
    """The gradients of sum(gradient * weight) by the inputs that require grad and by the weights
    of the first order; None where PyTorch has none."""
    names = [spec["name"] for spec in specs]
    values, leaves = make_inputs(specs), []
    for i, name in enumerate(names):
        if name in needs and values[i].is_floating_point():
            leaves.append(values[i].requires_grad_(True))
            values[i] = leaves[-1].clone()
    try:
        with default_of({"default": "float64"}):
            results = run_row(row["code"], names, values)
        heads = [r for r in results if r.requires_grad]
        weights = [weight_like(h).requires_grad_(True) for h in heads]
        grads = torch.autograd.grad(heads, leaves, weights, create_graph=True, allow_unused=True)
        grads = [g for g in grads if g is not None and g.requires_grad]
        if not grads:
            return None
        grads = torch.autograd.grad(grads, leaves + weights, [weight_like(g) for g in grads],
                                    allow_unused=True)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return None
    return [None if g is None else numbers(g) for g in grads]


def in_dtype(specs, dtype):
    return [dict(s, dtype=dtype if s["dtype"] == "float32" else s["dtype"]) for s in specs]


def in_double(specs):
    return in_dtype(specs, "float64")


def memory_in_half(row, needs):
    """The same for inputs in float16, if the op takes them."""
    specs = in_dtype(row["inputs"], "float16")
    try:
        out = memory(dict(row, inputs=specs), needs)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return []
    return [dict(out, inputs=specs)]


def laid_out(specs):
    """The inputs of four or five dimensions with their channels last, the others transposed."""
    return [dict(s, layout="channels_last" if len(s["shape"]) in CHANNELS_LAST else "transposed")
            if len(s["shape"]) > 1 else s for s in specs]


def memory_in_layout(row, needs):
    """The same for inputs in another layout, if the op takes them."""
    specs = laid_out(row["inputs"])
    if specs == row["inputs"]:
        return []
    try:
        out = memory(dict(row, inputs=specs), needs)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return []
    return [dict(out, inputs=specs)]


def memory_in_autocast(row, needs, plain):
    """What autocast changes: {} for nothing."""
    try:
        out = memory(row, needs, torch.autocast("cpu", dtype=torch.bfloat16))
    except (RuntimeError, IndexError, ValueError, TypeError):
        return {"autocast": None}
    return {} if out == plain else {"autocast": out}


def resized(specs, sizes):
    """The inputs with each size replaced as `sizes` says, wherever it occurs."""
    return [dict(s, shape=[sizes.get(n, n) for n in s["shape"]]) for s in specs]


def emptied(specs):
    """The inputs with nothing in the first dimension of the first, and of those that go with it."""
    first = specs[0]["shape"]

    def follows(shape):
        return shape[:1] == first[:1] and (shape == first or len(shape) < len(first))
    return [dict(s, shape=[0] + s["shape"][1:]) if follows(s["shape"]) else s for s in specs]


def further_shapes(specs):
    """Other sizes, an empty first dimension, no dimensions, and an operand that is broadcast."""
    sizes = {n for s in specs for n in s["shape"]}
    if not sizes:
        return
    yield resized(specs, {n: n + 1 for n in sizes if n > 1})
    if specs[0]["shape"] and all(s["kind"] != "spd" for s in specs):
        yield emptied(specs)
    # A matrix decomposition of a tensor without dimensions crashes PyTorch.
    if all(s["shape"] == specs[0]["shape"] and s["kind"] != "spd" for s in specs):
        yield [dict(s, shape=[]) for s in specs]
        if len(specs) > 1:
            yield [specs[0]] + [dict(s, shape=s["shape"][-1:]) for s in specs[1:]]
            yield [dict(specs[0], shape=specs[0]["shape"][:-1] + [1])] + specs[1:]


def record_row(name, code, inputs, variants, shapes):
    specs = parse_inputs(inputs)
    names = [spec["name"] for spec in specs]
    row = {"name": name, "code": code, "inputs": specs}
    row["steps"], row["results"] = compile_row(code, names)
    row["differences"] = name not in NO_DIFFERENCES
    choices = [set() if v == "none" else set(v.split("+")) for v in variants.split()]
    row["memory"] = [memory(row, needs) for needs in choices] + memory_in_half(row, choices[0])
    row["memory"] += memory_in_layout(row, choices[0])
    row.update(memory_in_autocast(row, choices[0], row["memory"][0]))
    row["values"] = [values_case(row, specs, choices[0])]
    row["values"].append(values_case(row, in_double(specs), choices[0], default="float64"))
    row["second"] = second_order(row, in_double(specs), choices[0])
    # Layers have their sizes in the line, and these of PyTorch crash on others or give what the
    # memory held.
    sized = any(name in code for name in ("nn.", "lstm", "_weight_norm", "pdist", "margin_loss(x, t"))
    generated = [] if sized else further_shapes(specs)
    given = [(text, parse_inputs(text)) for text in shapes]
    for text, more in given + [(None, more) for more in generated]:
        if more not in [case["inputs"] for case in row["values"]]:
            case = values_case(row, more, choices[0])
            if text is None and "error" in case:
                if case["error"] == "Backward":  # some shuffles of nothing: not to be imitated
                    continue
                case["error"] = "Exception"  # that there is one is what counts
            row["values"].append(case)
    return row


def record():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"seed": SEED, "input_seed": INPUT_SEED,
                "rows": [record_row(*row) for row in ROWS]}
