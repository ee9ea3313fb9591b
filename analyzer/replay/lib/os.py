import _support
import os.path as path


class _Environment(dict):
    def __missing__(self, key):
        return _support.unknown("os.environ[%r]" % (key,))


environ = _Environment()
sep = "/"
name = "posix"
linesep = "\n"
curdir = "."
pardir = ".."
pathsep = ":"
extsep = "."
altsep = None
devnull = "/dev/null"
F_OK = 0
R_OK = 4
W_OK = 2
X_OK = 1


def getenv(key, default=None):
    return environ.get(key, default)


def fspath(path):
    return path if isinstance(path, (str, bytes)) else path.__fspath__()


def access(path, mode):
    return False


def urandom(n):
    return bytes([i * 73 % 256 for i in range(n)])


def getppid():
    return 1


def sched_getaffinity(pid):
    return {0}


def nice(increment):
    return 0


def cpu_count():
    return 1


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


def getpid():
    return 1


def system(command):
    return _support.unknown("os.system()")


def walk(top):
    return _support.unknown("os.walk()")
