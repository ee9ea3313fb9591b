import _support


def _is_literal(value):
    if isinstance(value, (list, tuple, set)):
        return all([_is_literal(one) for one in value])
    if isinstance(value, dict):
        return all([_is_literal(key) and _is_literal(one) for key, one in value.items()])
    return value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str, bytes))


def literal_eval(node_or_string):
    if not isinstance(node_or_string, str):
        return _support.unknown("ast.literal_eval()")
    try:
        value = eval(node_or_string, {})
    except NameError:
        raise ValueError("malformed node or string: %r" % node_or_string) from None
    if not _is_literal(value):
        raise ValueError("malformed node or string: %r" % node_or_string)
    return value
