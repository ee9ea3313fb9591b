def _opened(value):
    if isinstance(value, dict):
        return "{", "}"
    if isinstance(value, list):
        return "[", "]"
    if isinstance(value, tuple):
        return "(", ",)" if len(value) == 1 else ")"
    return None


def _shown(value, sort):
    ends = _opened(value) if type(value) in (dict, list, tuple) else None
    if ends is None:
        return repr(value)
    if isinstance(value, dict):
        items = sorted(value.items(), key=_order) if sort else value.items()
        return "{" + ", ".join([_shown(k, sort) + ": " + _shown(v, sort) for k, v in items]) + "}"
    return ends[0] + ", ".join([_shown(one, sort) for one in value]) + ends[1]


def _order(pair):
    return (str(type(pair[0])), pair[0] if isinstance(pair[0], (str, int, float)) else repr(pair[0]))


def _laid_out(value, indent, width, sort, column, left):
    flat = _shown(value, sort)
    ends = _opened(value) if type(value) in (dict, list, tuple) else None
    if ends is None or not value or column + len(flat) + left <= width:
        return flat
    lead = " " * (indent - 1)
    inner = column + indent
    glue = ",\n" + " " * inner
    parts = []
    if isinstance(value, dict):
        items = list(sorted(value.items(), key=_order) if sort else value.items())
        for at, (k, v) in enumerate(items):
            key = _shown(k, sort) + ": "
            last = left + 1 if at == len(items) - 1 else 1
            parts.append(key + _laid_out(v, indent, width, sort, inner + len(key), last))
    else:
        for at, one in enumerate(value):
            last = left + 1 if at == len(value) - 1 else 1
            parts.append(_laid_out(one, indent, width, sort, inner, last))
    return ends[0] + lead + glue.join(parts) + ends[1]


def pformat(object, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    return _laid_out(object, indent, width, sort_dicts, 0, 0)


def _print(object, stream, **options):
    text = pformat(object, **options)
    if stream is None:
        print(text)
    else:
        stream.write(text + "\n")


def pprint(object, stream=None, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True,
           underscore_numbers=False):
    _print(object, stream, indent=indent, width=width, sort_dicts=sort_dicts)


def pp(object, *args, sort_dicts=False, **kwargs):
    pprint(object, *args, sort_dicts=sort_dicts, **kwargs)


class PrettyPrinter:
    def __init__(self, indent=1, width=80, depth=None, stream=None, *, sort_dicts=True, **options):
        self._stream = stream
        self._options = {"indent": indent, "width": width, "sort_dicts": sort_dicts}

    def pformat(self, object):
        return pformat(object, **self._options)

    def pprint(self, object):
        _print(object, self._stream, **self._options)
