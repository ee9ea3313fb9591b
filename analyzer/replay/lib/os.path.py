def join(a, *parts):
    result = str(a)
    for part in parts:
        part = str(part)
        if part.startswith("/"):
            result = part
        elif not result or result.endswith("/"):
            result += part
        else:
            result += "/" + part
    return result


def exists(path):
    return False


def isfile(path):
    return False


def isdir(path):
    return False


def basename(path):
    return str(path).rsplit("/", 1)[-1]


def dirname(path):
    return str(path).rsplit("/", 1)[0] if "/" in str(path) else ""


def abspath(path):
    return path if str(path).startswith("/") else "/" + str(path)


def realpath(path):
    return abspath(path)


def expanduser(path):
    return path


def splitext(path):
    base = basename(path)
    if "." not in base[1:]:
        return path, ""
    cut = path.rindex(".")
    return path[:cut], path[cut:]


def split(path):
    return dirname(path), basename(path)


def getsize(path):
    return 0


def isabs(path):
    return str(path).startswith("/")


def normpath(path):
    path = str(path)
    out = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and out and out[-1] != "..":
            out.pop()
        elif part != ".." or not path.startswith("/"):
            out.append(part)
    return ("/" if path.startswith("/") else "") + "/".join(out) or "."


def relpath(path, start="/"):
    a = [part for part in normpath(abspath(start)).split("/") if part]
    b = [part for part in normpath(abspath(path)).split("/") if part]
    same = 0
    while same < len(a) and same < len(b) and a[same] == b[same]:
        same += 1
    return "/".join([".."] * (len(a) - same) + b[same:]) or "."


def commonprefix(paths):
    if not paths:
        return ""
    low, high = min(paths), max(paths)
    for at, c in enumerate(low):
        if at >= len(high) or c != high[at]:
            return low[:at]
    return low


def commonpath(paths):
    split = [[part for part in str(path).split("/") if part] for path in paths]
    return ("/" if str(paths[0]).startswith("/") else "") + "/".join(commonprefix(split))


def normcase(path):
    return path


def expandvars(path):
    return path


def splitdrive(path):
    return "", path


def islink(path):
    return False


def lexists(path):
    return False


def ismount(path):
    return False


def samefile(a, b):
    return normpath(a) == normpath(b)


sep = "/"
curdir = "."
pardir = ".."
extsep = "."
pathsep = ":"
altsep = None
