def translate(pat):
    import re
    out, at = [], 0
    while at < len(pat):
        c = pat[at]
        at += 1
        if c == "*":
            out.append(".*")
        elif c == "?":
            out.append(".")
        elif c == "[" and "]" in pat[at:]:
            end = pat.index("]", at)
            inner = pat[at:end]
            out.append("[^%s]" % inner[1:] if inner.startswith("!") else "[%s]" % inner)
            at = end + 1
        else:
            out.append(re.escape(c))
    return "".join(out)


def fnmatchcase(name, pat):
    import re
    return re.fullmatch(translate(pat), name, re.S) is not None


def fnmatch(name, pat):
    return fnmatchcase(str(name), str(pat))


def filter(names, pat):
    return [name for name in names if fnmatch(name, pat)]
