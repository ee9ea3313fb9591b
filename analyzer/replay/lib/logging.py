import _support
import logging
import sys
import time

DEBUG = 10
INFO = 20
WARNING = 30
WARN = 30
ERROR = 40
CRITICAL = 50
FATAL = 50
NOTSET = 0
_names = {10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}
_loggers = {}


def getLevelName(level):
    if isinstance(level, str):
        return _number(level)
    return _names.get(level, "Level %s" % level)


def addLevelName(level, name):
    _names[level] = name


def _number(level):
    if isinstance(level, int):
        return level
    for number, name in _names.items():
        if name == level:
            return number
    return {"WARN": 30, "FATAL": 50, "NOTSET": 0}.get(level, 0)


class LogRecord:
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info, func=None):
        self.name = name
        self.levelno = level
        self.levelname = getLevelName(level)
        self.msg = msg
        self.args = args
        self.exc_info = exc_info
        self.pathname = pathname
        self.filename = pathname.rsplit("/", 1)[-1]
        self.module = self.filename.rsplit(".", 1)[0]
        self.lineno = lineno
        self.funcName = func
        self.created = time.time()
        self.msecs = self.created * 1000 % 1000
        self.relativeCreated = self.msecs
        self.process = self.thread = 1
        self.processName = "MainProcess"
        self.threadName = "MainThread"

    def getMessage(self):
        args = self.args
        if len(args) == 1 and isinstance(args[0], dict) and args[0]:
            args = args[0]
        return str(self.msg) % args if args else str(self.msg)


class Formatter:
    def __init__(self, fmt=None, datefmt=None, style="%"):
        self._fmt = fmt or "%(message)s"
        self._style = style
        self.datefmt = datefmt

    def usesTime(self):
        return "asctime" in self._fmt

    def formatTime(self, record, datefmt=None):
        return time.strftime(datefmt or "%Y-%m-%d %H:%M:%S")

    def format(self, record):
        record.message = record.getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        fields = dict(vars(record))
        return self._fmt.format(**fields) if self._style == "{" else self._fmt % fields


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return not self.name or record.name == self.name or record.name.startswith(self.name + ".")


class Filterer:
    def __init__(self):
        self.filters = []

    def addFilter(self, filter):
        self.filters.append(filter)

    def filter(self, record):
        for one in self.filters:
            if not (one.filter(record) if hasattr(one, "filter") else one(record)):
                return False
        return True


class Handler(Filterer):
    def __init__(self, level=0):
        super().__init__()
        self.level = _number(level)
        self.formatter = None

    def setFormatter(self, fmt):
        self.formatter = fmt

    def setLevel(self, level):
        self.level = _number(level)

    def format(self, record):
        return (self.formatter or Formatter()).format(record)

    def handle(self, record):
        if record.levelno >= self.level and self.filter(record):
            self.emit(record)

    def emit(self, record):
        pass

    def flush(self):
        pass

    def close(self):
        pass


class StreamHandler(Handler):
    def __init__(self, stream=None):
        super().__init__()
        self.stream = stream

    def emit(self, record):
        if self.stream is not None and self.stream is not sys.stderr:
            self.stream.write(self.format(record) + "\n")


class FileHandler(Handler):
    def __init__(self, filename, mode="a", encoding=None, delay=False):
        super().__init__()


class NullHandler(Handler):
    pass


class Logger(Filterer):
    def __init__(self, name="root", level=0, parent=None):
        super().__init__()
        self.name = name
        self.handlers = []
        self.level = level
        self.parent = parent
        self.propagate = True
        self.disabled = False

    def setLevel(self, level):
        self.level = _number(level)

    def addHandler(self, handler):
        if handler not in self.handlers:
            self.handlers.append(handler)

    def removeHandler(self, handler):
        if handler in self.handlers:
            self.handlers.remove(handler)

    def hasHandlers(self):
        return bool(self.handlers) or (self.propagate and self.parent is not None and self.parent.hasHandlers())

    def getEffectiveLevel(self):
        return self.level or (self.parent.getEffectiveLevel() if self.parent is not None else 0)

    def isEnabledFor(self, level):
        return not self.disabled and level > logging._off and level >= self.getEffectiveLevel()

    def getChild(self, suffix):
        return getLogger(self.name + "." + suffix)

    def _emit(self, level, msg, args):
        name, path, line = _support.caller()
        record = LogRecord(self.name, level, path, line, msg, args, None, name)
        if not self.filter(record):
            return
        logger = self
        while logger is not None:
            for handler in logger.handlers:
                handler.handle(record)
            logger = logger.parent if logger.propagate else None

    def log(self, level, msg, *args, **kwargs):
        if self.isEnabledFor(level):
            self._emit(level, msg, args)

    def debug(self, msg, *args, **kwargs):
        self.log(10, msg, *args)

    def info(self, msg, *args, **kwargs):
        self.log(20, msg, *args)

    def warning(self, msg, *args, **kwargs):
        self.log(30, msg, *args)

    def error(self, msg, *args, **kwargs):
        self.log(40, msg, *args)

    def critical(self, msg, *args, **kwargs):
        self.log(50, msg, *args)

    warn = warning
    exception = error
    fatal = critical


_off = -1
root = Logger("root", 30)


def getLogger(name=None):
    if not name or name == "root":
        return root
    if name not in _loggers:
        parent = name.rpartition(".")[0]
        _loggers[name] = Logger(name, 0, getLogger(parent) if parent in _loggers else root)
    return _loggers[name]


def basicConfig(level=None, format=None, datefmt=None, style="%", stream=None, handlers=None, force=False, filename=None, **kwargs):
    if force:
        root.handlers.clear()
    if root.handlers:
        return
    if handlers is None:
        handlers = [FileHandler(filename) if filename else StreamHandler(stream)]
    for handler in handlers:
        if handler.formatter is None:
            handler.setFormatter(Formatter(format or "%(levelname)s:%(name)s:%(message)s", datefmt, style))
        root.addHandler(handler)
    if level is not None:
        root.setLevel(level)


def disable(level=50):
    logging._off = level


def log(level, msg, *args, **kwargs):
    root.log(level, msg, *args)


def debug(msg, *args, **kwargs):
    root.log(10, msg, *args)


def info(msg, *args, **kwargs):
    root.log(20, msg, *args)


def warning(msg, *args, **kwargs):
    root.log(30, msg, *args)


def error(msg, *args, **kwargs):
    root.log(40, msg, *args)


def critical(msg, *args, **kwargs):
    root.log(50, msg, *args)


warn = warning
exception = error
fatal = critical
