def copy(x):
    cls = type(x)
    own = getattr(x, "__copy__", None)
    if own is not None:
        return own()
    if cls in (list, dict, set):
        return x.copy()
    if isinstance(x, (int, float, str, bytes, tuple, type(None), type)) or callable(x) and not hasattr(x, "__dict__"):
        return x
    if isinstance(x, (dict, list, set)):
        return _fill(cls, x, dict(x.__dict__) if hasattr(x, "__dict__") else {}, lambda v: v)
    if not hasattr(x, "__dict__"):
        return x
    y = cls.__new__(cls)
    y.__dict__.update(x.__dict__)
    return y


def _fill(cls, x, attributes, clone):
    y = cls.__new__(cls)
    for name, value in attributes.items():
        y.__dict__[name] = clone(value)
    if isinstance(x, dict):
        for key, value in x.items():
            dict.__setitem__(y, clone(key), clone(value))
    elif isinstance(x, list):
        for value in x:
            list.append(y, clone(value))
    else:
        for value in x:
            y.add(clone(value))
    return y


def deepcopy(x, memo=None):
    if x is None or isinstance(x, (int, float, str, bytes, type, range)):
        return x
    if memo is None:
        memo = {}
    key = id(x)
    if key in memo:
        return memo[key][0]
    y = _deep(x, memo)
    memo[key] = (y, x)
    return y


def _deep(x, memo):
    cls = type(x)
    own = getattr(x, "__deepcopy__", None)
    if own is not None:
        return own(memo)
    if cls is list:
        y = []
        memo[id(x)] = (y, x)
        for value in x:
            y.append(deepcopy(value, memo))
        return y
    if cls is dict:
        y = {}
        memo[id(x)] = (y, x)
        for name, value in x.items():
            y[deepcopy(name, memo)] = deepcopy(value, memo)
        return y
    if cls is set:
        return {deepcopy(value, memo) for value in x}
    if isinstance(x, tuple):
        items = [deepcopy(value, memo) for value in x]
        return tuple(items) if cls is tuple else tuple.__new__(cls, items)
    if isinstance(x, (dict, list, set)):
        return _fill(cls, x, dict(x.__dict__), lambda v: deepcopy(v, memo))
    if not hasattr(x, "__dict__") or hasattr(x, "__code__") or hasattr(x, "__globals__"):
        return x
    y = cls.__new__(cls)
    memo[id(x)] = (y, x)
    for name, value in x.__dict__.items():
        y.__dict__[name] = deepcopy(value, memo)
    return y


def replace(x, /, **changes):
    return x.__replace__(**changes)
