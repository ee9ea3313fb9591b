"""Training programs under real PyTorch: live bytes and nodes at the end of each iteration.

tests/test_runtime_programs.c has the same programs in C. Each takes `sample`, which it calls at
the end of its loop's body. Bytes are those of PyTorch's own allocator; nodes are those that can
be reached from the tensors that Python sees. The cycle collector is off: what only it would free
is alive.
"""

import contextlib
import functools
import gc
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from record_ops import AllocationLog

STEPS = 20
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def loss_append(sample, leak):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    inputs, targets = torch.randn(20, 16, 12), torch.randn(20, 16, 1)
    kept = []
    for step in range(STEPS):
        opt.zero_grad()
        pred = model(inputs[step])
        loss = F.mse_loss(pred, targets[step])
        loss.backward()
        opt.step()
        if leak:
            kept.append(loss)
        sample()


@program
def losses_in_a_list(sample):
    loss_append(sample, True)


@program
def losses_used_and_dropped(sample):
    loss_append(sample, False)


@program
def error_summed_in_place(sample):
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 6))
    batches = torch.randn(20, 10, 6)
    total = torch.zeros(())
    for batch in batches:
        recon = net(batch)
        err = (recon - batch).abs().mean()
        total += err
        sample()


@program
def total_rebound(sample):
    torch.manual_seed(4)
    net = nn.Linear(20, 5)
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(64, 20), torch.randn(64, 5)
    total = torch.tensor(0.0)
    for _ in range(STEPS):
        loss = F.smooth_l1_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total = total + loss
        sample()


@program
def weights_averaged_with_grad(sample):
    torch.manual_seed(12)
    net = nn.Linear(16, 8)
    params = list(net.parameters())
    shadow = [p.detach().clone() for p in params]
    opt = torch.optim.SGD(params, lr=0.1)
    x = torch.randn(10, 16)
    for _ in range(STEPS):
        loss = net(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for i, p in enumerate(params):
            shadow[i] = shadow[i] * 0.95 + p * (1 - 0.95)
        sample()


@program
def outputs_of_evaluation(sample):
    torch.manual_seed(25)
    model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Dropout(0.3), nn.Linear(48, 2))
    batches = torch.randn(20, 8, 12)
    model.eval()
    kept = []
    for batch in batches:
        kept.append(model(batch))
        sample()


@program
def gradient_penalties(sample):
    torch.manual_seed(26)
    critic = nn.Sequential(nn.Linear(5, 20), nn.Tanh(), nn.Linear(20, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=1e-3)
    kept = []
    for _ in range(STEPS):
        x = torch.randn(6, 5, requires_grad=True)
        value = critic(x).sum()
        grad, = torch.autograd.grad(value, x, create_graph=True)
        penalty = (grad.norm(2, 1) - 1).pow(2).mean()
        opt.zero_grad()
        (value + penalty * 10).backward()
        opt.step()
        kept.append(penalty)
        sample()


@program
def feature_maps(sample):
    torch.manual_seed(31)
    conv1, conv2, fc = nn.Conv2d(1, 4, 3, 1, 1), nn.Conv2d(4, 8, 3), nn.Linear(72, 10)
    params = [p for m in (conv1, conv2, fc) for p in m.parameters()]
    opt = torch.optim.SGD(params, lr=0.01, momentum=0.9)
    kept = []
    for _ in range(STEPS):
        x, y = torch.randn(4, 1, 16, 16), torch.randint(0, 10, (4,))
        feat = F.avg_pool2d(conv2(F.max_pool2d(conv1(x).relu(), 2)).relu(), 2)
        logits = fc(feat.flatten(1))
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        kept.append(feat)
        sample()


@program
def attention_maps(sample):
    torch.manual_seed(33)
    norm1, norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
    attn = nn.MultiheadAttention(8, 2, batch_first=True)
    mlp = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
    params = [p for m in (norm1, attn, norm2, mlp) for p in m.parameters()]
    opt = torch.optim.AdamW(params, lr=1e-3)
    kept = []

    def block(x):
        h = norm1(x)
        y, weights = attn(h, h, h)
        y = x + y
        return y + mlp(norm2(y)), weights

    for _ in range(STEPS):
        x = torch.randn(2, 6, 8)
        out, weights = block(x)
        loss = (out - x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        kept.append(weights)
        sample()


@program
def dropout_samples(sample):
    torch.manual_seed(35)
    net = nn.Sequential(nn.Linear(6, 30), nn.Dropout(0.5), nn.Linear(30, 2))
    x = torch.randn(5, 6)
    mean = torch.zeros(5, 2)
    for _ in range(STEPS):
        mean = mean + net(x) / STEPS
        sample()


@program
def adapted_weights(sample):
    torch.manual_seed(38)
    w, b = torch.randn(1, 6, requires_grad=True), torch.zeros(1, requires_grad=True)
    opt = torch.optim.SGD([w, b], lr=0.01)
    kept = []
    for _ in range(STEPS):
        slope = torch.randn(6)
        support, query = torch.randn(2, 8, 6)
        fast_w, fast_b = w, b
        for _ in range(2):
            err = F.linear(support, fast_w, fast_b).squeeze(1) - support @ slope
            grads = torch.autograd.grad(err.pow(2).mean(), (fast_w, fast_b), create_graph=True)
            fast_w, fast_b = fast_w - 0.1 * grads[0], fast_b - 0.1 * grads[1]
        err = F.linear(query, fast_w, fast_b).squeeze(1) - query @ slope
        loss = err.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        kept.append((fast_w, fast_b))
        sample()


@program
def both_losses_of_a_gan(sample):
    torch.manual_seed(40)
    gen = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
    disc = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4)
    opt_d = torch.optim.Adam(disc.parameters(), lr=2e-4)
    bce = F.binary_cross_entropy_with_logits
    ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)
    kept = []
    for _ in range(STEPS):
        real = torch.randn(8, 6) + 2
        fake = gen(torch.randn(8, 4))
        d_loss = bce(disc(real), ones) + bce(disc(fake.detach()), zeros)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = bce(disc(fake), ones)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        kept += [g_loss, d_loss]
        sample()


def curvature():
    net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
    params = list(net.parameters())
    net(torch.randn(3, 5)).pow(2).mean().backward(create_graph=True)
    norm = sum(p.grad.pow(2).sum() for p in params)
    torch.autograd.grad(norm, params)


@program
def gradients_with_a_graph(sample):
    torch.manual_seed(41)
    for _ in range(STEPS):
        curvature()
        sample()


@program
def rows_written_in_place(sample):
    torch.manual_seed(44)
    net = nn.Sequential(nn.Linear(8, 16), nn.Softplus(), nn.Linear(16, 1))
    x, results = torch.randn(20, 5, 8), torch.zeros(20, 5)
    for step in range(STEPS):
        score = net(x[step]).squeeze(1)
        results[step] = score
        sample()


@program
def a_sum_that_contains_its_factor(sample):
    """h.add_(b), where the graph of b saved h: a cycle through C++ that nothing frees."""
    torch.manual_seed(50)
    w = torch.randn(100, requires_grad=True)
    for _ in range(STEPS):
        h = w + 1
        h.add_(w * h)
        sample()


def checkpoints(sample, reentrant):
    """Every fourth loss keeps its graph; the others have been through backward."""
    torch.manual_seed(51)
    net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Dropout(0.3), nn.Linear(16, 6))
    head = nn.Linear(6, 1)
    opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
    kept = []
    for step in range(STEPS):
        x = torch.randn(5, 6, requires_grad=True)
        loss = head(checkpoint(net, x, use_reentrant=reentrant).sigmoid()).pow(2).mean()
        if step % 4 != 3:
            opt.zero_grad()
            loss.backward()
            opt.step()
        kept.append(loss)
        sample()


@program
def checkpoints_in_one_node(sample):
    checkpoints(sample, True)


@program
def checkpoints_with_their_ops(sample):
    checkpoints(sample, False)


def autocast(enabled=True):
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled)


def autocast_steps(sample, outer, inner):
    """Every fourth loss keeps its graph; casts of weights live until the outermost region ends."""
    torch.manual_seed(61)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(36, 8), nn.Tanh(),
                        nn.Linear(8, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    kept = []
    with outer:
        for step in range(STEPS):
            x = torch.randn(5, 3, 5, 5)
            with inner:
                loss = F.mse_loss(net(x), torch.zeros(5, 2))
            if step % 4 != 3:
                opt.zero_grad()
                loss.backward()
                opt.step()
            kept.append(loss)
            sample()


@program
def autocast_in_each_step(sample):
    autocast_steps(sample, contextlib.nullcontext(), autocast())


@program
def autocast_around_all_steps(sample):
    autocast_steps(sample, autocast(), contextlib.nullcontext())


@program
def autocast_in_a_region_without(sample):
    autocast_steps(sample, autocast(enabled=False), autocast())


# What these nodes saved must not be looked at: it would be computed again.
PACKED = {checkpoints_in_one_node, checkpoints_with_their_ops}

# ------------------------------------------------------------- measuring


@functools.lru_cache(None)
def saved_names(node_type):
    return [name for name in dir(node_type) if name.startswith("_saved_")]


def saved_by(node):
    """The tensors that a node saved, as far as it still has them."""
    out = []
    for name in saved_names(type(node)):
        try:
            value = getattr(node, name)
        except RuntimeError:  # freed by backward, or changed in place
            continue
        out += [v for v in (value if isinstance(value, (list, tuple)) else [value])
                if isinstance(v, torch.Tensor)]
    return out


def reachable_nodes(saved=saved_by):
    """How many nodes can be reached from the tensors that Python sees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        todo = [t for t in gc.get_objects() if isinstance(t, torch.Tensor)]
        tensors, nodes = {id(t): t for t in todo}, {}
        while todo:
            at = todo.pop()
            if isinstance(at, torch.Tensor):
                near = [at.grad if at.is_leaf else None, at._base, at.grad_fn]
            else:
                near = [edge for edge, _ in at.next_functions]
                near += [*saved(at), getattr(at, "variable", None)]
            for new in near:
                seen = tensors if isinstance(new, torch.Tensor) else nodes
                if new is not None and id(new) not in seen:
                    seen[id(new)] = new
                    todo.append(new)
    return len(nodes)


def measured(function):
    nodes = []
    saved = (lambda node: []) if function in PACKED else saved_by
    gc.freeze()  # what is there already is not looked at: cycles of other programs, too

    def sample():
        nodes.append(reachable_nodes(saved))
        AllocationLog.mark()

    with AllocationLog() as log:
        function(sample)
    return {"program": function.__name__, "live_bytes": log.live_at_marks(), "nodes": nodes}


def record():
    gc.collect()
    gc.disable()
    try:
        return {"programs": [measured(f) for f in PROGRAMS.values()]}
    finally:
        gc.unfreeze()
        gc.enable()
