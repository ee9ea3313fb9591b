import _support


# Compiled code keeps what its own rules say.
def script(obj=None, *args, **kwargs):
    _support.unknown("torch.jit.script()")
    return obj


def trace(func, *args, **kwargs):
    _support.unknown("torch.jit.trace()")
    return func


def _same(obj=None, *args, **kwargs):
    return obj if obj is not None else lambda f: f


ignore = unused = export = freeze = script_if_tracing = _same


def is_scripting():
    return False


def is_tracing():
    return False


class ScriptModule:
    pass
