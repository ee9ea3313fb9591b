#!/usr/bin/env python3
"""PyTorch's figures beside those of tests/bench_runtime.c: nodes recorded and freed a second,
bytes of host memory a node, a training step of the same small transformer on one thread."""

import ctypes
import time

import torch
from torch import nn

NODES = 100_000
ROUNDS = 20


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]


def bytes_in_use():
    """What the C library's allocator has given out, or None where it does not tell."""
    try:
        tell = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    tell.restype = Mallinfo
    return tell().uordblks


def bench_nodes():
    x = torch.ones((), requires_grad=True)
    chain = x
    before, begun = bytes_in_use(), time.process_time()
    for _ in range(NODES):
        chain = -chain
    recorded, after = time.process_time() - begun, bytes_in_use()
    del chain
    both = time.process_time() - begun
    print("nodes recorded: %.2f million a second" % (NODES / recorded / 1e6))
    print("nodes recorded and freed: %.2f million a second" % (NODES / both / 1e6))
    if before is not None:
        print("bytes a node: %.0f" % ((after - before) / NODES))


def bench_transformer():
    layers = nn.Sequential(*[nn.TransformerEncoderLayer(
        64, 4, 256, 0.0, "gelu", batch_first=True, norm_first=True) for _ in range(4)])
    opt = torch.optim.AdamW(layers.parameters())
    x = torch.randn(4, 32, 64)

    def step():
        loss = nn.functional.mse_loss(layers(x), x)
        opt.zero_grad()
        loss.backward()
        opt.step()

    step()
    begun = time.process_time()
    for _ in range(ROUNDS):
        step()
    took = (time.process_time() - begun) / ROUNDS
    print("transformer step, 4 layers, width 64, 4 x 32: %.0f us" % (took * 1e6))


def main():
    torch.set_num_threads(1)
    print("PyTorch %s, CPU time" % torch.__version__)
    bench_nodes()
    bench_transformer()


if __name__ == "__main__":
    main()
