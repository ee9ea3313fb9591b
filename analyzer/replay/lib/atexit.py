def register(func, *args, **kwargs):
    return func


def unregister(func):
    pass
