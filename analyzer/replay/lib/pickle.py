import torch

DEFAULT_PROTOCOL = 4
HIGHEST_PROTOCOL = 5


class PickleError(Exception):
    pass


class PicklingError(PickleError):
    pass


class UnpicklingError(PickleError):
    pass


# Bytes that know what they were made of.
class _Pickled(bytes):
    pass


def dump(obj, file, protocol=None, *, fix_imports=True):
    torch.save(obj, file)


def load(file, *, fix_imports=True, encoding="ASCII", errors="strict"):
    return torch.load(file)


class _Holder:
    write = read = None


def dumps(obj, protocol=None, *, fix_imports=True):
    holder = _Holder()
    torch.save(obj, holder)
    made = _Pickled(b"\x80\x04.")
    made.holder = holder
    return made


def loads(data, *, fix_imports=True, encoding="ASCII", errors="strict"):
    return torch.load(getattr(data, "holder", _Holder()))
