import _support
import os.path as path


class _Environment(dict):
    def __missing__(self, key):
        return _support.unknown("os.environ[%r]" % (key,))


environ = _Environment()
sep = "/"
name = "posix"
linesep = "\n"


def getenv(key, default=None):
    return default


def makedirs(name, mode=511, exist_ok=False):
    pass


def mkdir(path, mode=511):
    pass


def remove(path):
    pass


def getcwd():
    return "/"


def listdir(path="."):
    return _support.unknown("os.listdir()")


def cpu_count():
    return 1


def getpid():
    return 1


def system(command):
    return _support.unknown("os.system()")


def walk(top):
    return _support.unknown("os.walk()")
