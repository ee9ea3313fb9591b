def print_exc(*args, **kwargs):
    pass


def format_exc(*args, **kwargs):
    return ""


def print_stack(*args, **kwargs):
    pass


def print_exception(*args, **kwargs):
    pass
