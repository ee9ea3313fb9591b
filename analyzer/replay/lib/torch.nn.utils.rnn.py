import torch
import _torch


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    longest = max(s.size(0) for s in sequences)
    trailing = sequences[0].shape[1:]
    shape = (len(sequences), longest, *trailing) if batch_first else (longest, len(sequences), *trailing)
    out = torch.full(shape, padding_value, dtype=sequences[0].dtype)
    for i, s in enumerate(sequences):
        if batch_first:
            out[i, :s.size(0)] = s
        else:
            out[:s.size(0), i] = s
    return out


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    return _torch.opaque("torch.nn.utils.rnn.pack_padded_sequence", (input,))


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    return sequence, torch.full((sequence.size(0),), sequence.size(1))
