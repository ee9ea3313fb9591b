class Handler:
    def __init__(self, *args, **kwargs):
        pass

    def setFormatter(self, fmt):
        pass

    def setLevel(self, level):
        pass


class StreamHandler(Handler):
    pass


class FileHandler(Handler):
    pass


class NullHandler(Handler):
    pass


class Formatter:
    def __init__(self, *args, **kwargs):
        pass


class Logger:
    def __init__(self, name="root"):
        self.name = name
        self.handlers = []
        self.level = 30
        self.propagate = True

    def setLevel(self, level):
        self.level = level

    def addHandler(self, handler):
        self.handlers.append(handler)

    def removeHandler(self, handler):
        pass

    def isEnabledFor(self, level):
        return False

    def log(self, level, msg, *args, **kwargs):
        pass

    def debug(self, msg, *args, **kwargs):
        pass

    info = warning = warn = error = exception = critical = debug


def getLogger(name=None):
    return Logger(name or "root")


def basicConfig(**kwargs):
    pass


def debug(msg, *args, **kwargs):
    pass


def info(msg, *args, **kwargs):
    pass


def warning(msg, *args, **kwargs):
    pass


def error(msg, *args, **kwargs):
    pass


def exception(msg, *args, **kwargs):
    pass


def critical(msg, *args, **kwargs):
    pass


def disable(level=50):
    pass


DEBUG = 10
INFO = 20
WARNING = 30
WARN = 30
ERROR = 40
CRITICAL = 50
