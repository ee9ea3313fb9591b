import _support
import _torch
import torch
from collections import namedtuple


def _inverse(permutation):
    if permutation is None:
        return None
    made = torch.empty_like(permutation)
    made.scatter_(0, permutation, torch.arange(permutation.numel()))
    return made


def invert_permutation(permutation):
    return _inverse(permutation)


class PackedSequence(namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])):
    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = _inverse(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        return type(self)(self.data.to(*args, **kwargs), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self, *args, **kwargs):
        return self

    def cuda(self, *args, **kwargs):
        return self

    @property
    def is_cuda(self):
        return False


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    if _support.is_unknown(input) or _support.is_unknown(lengths):
        return _torch.opaque("torch.nn.utils.rnn.pack_padded_sequence", (input,))
    lengths = torch.as_tensor(lengths, dtype=torch.int64)
    order = None
    if not enforce_sorted:
        lengths, order = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    packed = _torch.op("torch._VF._pack_padded_sequence", (input, lengths, batch_first))
    if not isinstance(packed, tuple):
        return packed
    return PackedSequence(packed[0], packed[1], order)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    if not isinstance(sequence, PackedSequence):
        return sequence, torch.full((sequence.size(0),), sequence.size(1))
    data = sequence.data
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None and total_length < steps:
        raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got "
                         "total_length=%d and max sequence length being %d" % (total_length, steps))
    padded = torch.full((total_length or steps, sizes[0], *data.shape[1:]), padding_value, dtype=data.dtype)
    offset = start = 0
    lengths = []
    for i in range(1, steps + 1):
        now, before = sizes[i] if i < steps else 0, sizes[start]
        if now == before:
            continue
        count = before * (i - start)
        part = data.narrow(0, offset, count)
        padded.narrow(0, start, i - start).narrow(1, 0, before).copy_(part.view(i - start, before, *data.shape[1:]))
        lengths = [i] * (before - now) + lengths
        offset, start = offset + count, i
    part = None
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = torch.tensor(lengths)
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    sequences = list(sequences)
    longest = max(s.size(0) for s in sequences)
    trailing = sequences[0].shape[1:]
    shape = (len(sequences), longest, *trailing) if batch_first else (longest, len(sequences), *trailing)
    out = torch.full(shape, padding_value, dtype=sequences[0].dtype)
    for i, s in enumerate(sequences):
        at = slice(0, s.size(0)) if padding_side == "right" else slice(longest - s.size(0), longest)
        if batch_first:
            out[i, at] = s
        else:
            out[at, i] = s
    return out


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[:length] for sequence, length in zip(padded_sequences, lengths.tolist())]


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.as_tensor([v.size(0) for v in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


# --- Recurrent layers on packed sequences: the steps of each direction, as many rows as the step has sequences.

def _linear(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


def _lstm(x, state, w):
    gates = _linear(state[0], w[1], w[3]).add_(x)
    i, f, g, o = _torch.op("unsafe_chunk", (gates, 4, 1))
    i.sigmoid_()
    f.sigmoid_()
    g.tanh_()
    o.sigmoid_()
    c = (f * state[1]).add_(i * g)
    h = o * c.tanh()
    return (h if w[4] is None else _linear(h, w[4], None), c)


def _gru(x, state, w):
    x_r, x_z, x_n = _torch.op("unsafe_chunk", (x, 3, 1))
    h_r, h_z, h_n = _torch.op("unsafe_chunk", (_linear(state[0], w[1], w[3]), 3, 1))
    r = h_r.add_(x_r).sigmoid_()
    z = h_z.add_(x_z).sigmoid_()
    n = x_n.add(h_n.mul_(r)).tanh_()
    return ((state[0] - n).mul_(z).add_(n),)


def _tanh(x, state, w):
    return (_linear(state[0], w[1], w[3]).add_(x).tanh(),)


def _relu(x, state, w):
    return (_linear(state[0], w[1], w[3]).add_(x).relu(),)


_CELLS = {"torch._VF.lstm": _lstm, "torch._VF.gru": _gru, "torch._VF.rnn_tanh": _tanh, "torch._VF.rnn_relu": _relu}


def _rows(state, start, end):
    return tuple([s.narrow(0, start, end - start) for s in state])


def _joined(states):
    return tuple([torch.cat(parts, 0) for parts in zip(*states)])


def _forward(cell, data, sizes, state, w):
    x = _linear(data, w[0], w[2])
    outputs, done = [], []
    offset, last = 0, sizes[0]
    for size in sizes:
        step = x.narrow(0, offset, size)
        offset += size
        if size < last:
            done.append(_rows(state, size, last))
            state = _rows(state, 0, size)
        last = size
        state = cell(step, state, w)
        outputs.append(state[0])
    done.append(state)
    return torch.cat(outputs, 0), _joined(done[::-1])


def _backward(cell, data, sizes, first, w):
    x = _linear(data, w[0], w[2])
    outputs = []
    offset, last = x.size(0), sizes[-1]
    state = _rows(first, 0, last)
    for size in sizes[::-1]:
        if size > last:
            state = _joined([state, _rows(first, last, size)])
        last = size
        offset -= size
        state = cell(x.narrow(0, offset, size), state, w)
        outputs.append(state[0])
    return torch.cat(outputs[::-1], 0), state


def _run_layers(module, data, sizes, states):
    cell = _CELLS[module._op]
    directions = 2 if module.bidirectional else 1
    weights = module._weights()
    per_cell = len(weights) // (module.num_layers * directions)
    unbound = list(zip(*[s.unbind(0) for s in states]))
    finals = []
    for layer in range(module.num_layers):
        outputs = []
        for direction in range(directions):
            at = layer * directions + direction
            given = weights[at * per_cell:(at + 1) * per_cell]
            w = [given[0], given[1], *(given[2:4] if module.bias else [None, None]),
                 given[-1] if getattr(module, "proj_size", 0) else None]
            run = _backward if direction else _forward
            output, final = run(cell, data, sizes, unbound[at], w)
            outputs.append(output)
            finals.append(final)
        data = torch.cat(outputs, outputs[0].dim() - 1) if directions == 2 else outputs[0]
        if module.dropout and module.training and layer + 1 < module.num_layers:
            data = torch.dropout(data, module.dropout, True)
    return data, [torch.stack(parts, 0) for parts in zip(*finals)]


def _run_even(module, data, sizes, states):
    """All sequences are of one length: the same kernels as without packing."""
    data = data.view(len(sizes), sizes[0], data.size(1))
    output, *finals = _torch.op(module._op, (data, tuple(states), module._weights(), module.bias, module.num_layers,
                                             module.dropout, module.training, module.bidirectional, False))
    return output.view(-1, output.size(2)), finals


def _run_packed(module, sequence, hx):
    sizes = sequence.batch_sizes.tolist()
    is_lstm = module._op == "torch._VF.lstm"
    if hx is None:
        count = module.num_layers * (2 if module.bidirectional else 1)
        widths = [getattr(module, "proj_size", 0) or module.hidden_size] + [module.hidden_size] * is_lstm
        states = [torch.zeros(count, sizes[0], width, dtype=sequence.data.dtype) for width in widths]
    else:
        states = list(hx) if is_lstm else [hx]
        if sequence.sorted_indices is not None:
            states = [s.index_select(1, sequence.sorted_indices) for s in states]
    if is_lstm and sizes[0] == sizes[-1] and not module.proj_size and sequence.data.dtype == torch.float32:
        data, finals = _run_even(module, sequence.data, sizes, states)
    else:
        data, finals = _run_layers(module, sequence.data, sizes, states)
    if sequence.unsorted_indices is not None:
        finals = [s.index_select(1, sequence.unsorted_indices) for s in finals]
    output = PackedSequence(data, sequence.batch_sizes, sequence.sorted_indices, sequence.unsorted_indices)
    return output, (tuple(finals) if is_lstm else finals[0])
