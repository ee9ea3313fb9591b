import _support


def format_exception(exc=None, /, value=None, tb=None, limit=None, chain=True):
    text = _support.traceback(exc if value is None else value)
    return [line + "\n" for line in text.split("\n")]


def format_exc(limit=None, chain=True):
    exc = _support.handled()
    return "NoneType: None\n" if exc is None else "".join(format_exception(exc))


def format_exception_only(exc, /, value=None):
    return [_support.traceback(exc if value is None else value).split("\n")[-1] + "\n"]


def print_exc(limit=None, file=None, chain=True):
    if file is not None:
        file.write(format_exc())


def print_exception(exc, /, value=None, tb=None, limit=None, file=None, chain=True):
    if file is not None:
        file.write("".join(format_exception(exc, value)))


def print_stack(f=None, limit=None, file=None):
    pass


def print_tb(tb, limit=None, file=None):
    pass


def format_tb(tb, limit=None):
    return []


def format_stack(f=None, limit=None):
    return []


def extract_tb(tb, limit=None):
    return []


def extract_stack(f=None, limit=None):
    return []


def clear_frames(tb):
    pass
