import _support


def _text(s):
    out = ['"']
    for c in s:
        if c == '"' or c == "\\":
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        else:
            out.append(c)
    out.append('"')
    return "".join(out)


def _dump(obj, indent, level, default, sort_keys):
    if obj is None:
        return "null"
    if obj is True:
        return "true"
    if obj is False:
        return "false"
    if isinstance(obj, str):
        return _text(obj)
    if isinstance(obj, (int, float)):
        return repr(obj)
    pad = "\n" + " " * (indent * (level + 1)) if indent else ""
    end = "\n" + " " * (indent * level) if indent else ""
    comma = "," if indent else ", "
    if isinstance(obj, (list, tuple)):
        if not obj:
            return "[]"
        return "[" + comma.join(pad + _dump(v, indent, level + 1, default, sort_keys) for v in obj) + end + "]"
    if isinstance(obj, dict):
        if not obj:
            return "{}"
        items = sorted(obj.items()) if sort_keys else obj.items()
        return "{" + comma.join(pad + _text(str(k)) + ": " + _dump(v, indent, level + 1, default, sort_keys)
                                for k, v in items) + end + "}"
    if default is not None:
        return _dump(default(obj), indent, level, default, sort_keys)
    if _support.is_unknown(obj):
        return "null"
    raise TypeError("Object of type %s is not JSON serializable" % type(obj).__name__)


def dumps(obj, *, indent=None, default=None, sort_keys=False, ensure_ascii=True, separators=None, cls=None):
    return _dump(obj, indent, 0, default, sort_keys)


def dump(obj, fp, **kwargs):
    fp.write(dumps(obj))


def load(fp, **kwargs):
    import _support
    return _support.unknown("json.load()")


def loads(s, **kwargs):
    import _support
    return _support.unknown("json.loads()")
