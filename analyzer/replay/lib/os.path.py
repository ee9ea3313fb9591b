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
