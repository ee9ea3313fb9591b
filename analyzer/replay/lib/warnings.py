# Only those that record see anything: standard error is not shown.
_filters = []
_recording = []
_seen = set()


class WarningMessage:
    def __init__(self, message, category, filename, lineno):
        self.message = message
        self.category = category
        self.filename = filename
        self.lineno = lineno


def _fits(text, pattern):
    if pattern[:2] == ".*":
        return pattern[2:] in text
    return text[:len(pattern)] == pattern


def _action(text, category):
    for action, start, of in _filters:
        if issubclass(category, of) and _fits(text.lower(), start.lower()):
            return action
    return "default"


def warn(message, category=None, stacklevel=1, source=None, *, skip_file_prefixes=()):
    if isinstance(message, Warning):
        category = type(message)
    elif category is None:
        category = UserWarning
    text = str(message)
    action = _action(text, category)
    if not isinstance(message, Warning):
        message = category(message)
    if action == "error":
        raise message
    if action == "ignore" or not _recording or (action != "always" and (text, category) in _seen):
        return
    _seen.add((text, category))
    _recording[-1].append(WarningMessage(message, category, "main.py", 1))


def warn_explicit(message, category, filename, lineno, module=None, registry=None, module_globals=None, source=None):
    warn(message, category)


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    if append:
        _filters.append((action, message, category))
    else:
        _filters.insert(0, (action, message, category))


def simplefilter(action, category=Warning, lineno=0, append=False):
    filterwarnings(action, "", category, append=append)


def resetwarnings():
    _filters.clear()


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None, category=Warning, lineno=0, append=False):
        self.record = record
        self.action = action
        self.category = category
        self.append = append

    def __enter__(self):
        self._kept = _filters[:]
        _seen.clear()
        if self.action is not None:
            simplefilter(self.action, self.category, append=self.append)
        if not self.record:
            return None
        _recording.append([])
        return _recording[-1]

    def __exit__(self, *exc_info):
        _filters[:] = self._kept
        if self.record:
            _recording.pop()
