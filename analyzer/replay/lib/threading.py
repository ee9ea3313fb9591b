import _support


class Lock:
    def __init__(self):
        self._held = 0

    def acquire(self, blocking=True, timeout=-1):
        self._held += 1
        return True

    def release(self):
        self._held -= 1

    def locked(self):
        return self._held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exc_info):
        self.release()


class RLock(Lock):
    pass


class Semaphore(Lock):
    def __init__(self, value=1):
        Lock.__init__(self)


class BoundedSemaphore(Semaphore):
    pass


class Condition(Lock):
    def __init__(self, lock=None):
        Lock.__init__(self)

    def wait(self, timeout=None):
        return True

    def wait_for(self, predicate, timeout=None):
        return predicate()

    def notify(self, n=1):
        pass

    def notify_all(self):
        pass


class Event:
    def __init__(self):
        self._flag = False

    def is_set(self):
        return self._flag

    def set(self):
        self._flag = True

    def clear(self):
        self._flag = False

    def wait(self, timeout=None):
        return self._flag if timeout is not None else True


class local:
    pass


# A thread runs when it is waited for: one that nobody waits for may go on forever.
class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self.name = name or "Thread-1"
        self.daemon = bool(daemon)
        self.ident = None
        self._waits = False
        self._target, self._args, self._kwargs = target, args, kwargs or {}

    def run(self):
        try:
            if self._target is not None:
                self._target(*self._args, **self._kwargs)
        finally:
            self._target = self._args = self._kwargs = None

    def start(self):
        if self.ident is not None:
            raise RuntimeError("threads can only be started once")
        self.ident = 1
        self._waits = True
        _support.unknown("a thread")

    def join(self, timeout=None):
        if self._waits and timeout is None:
            self._waits = False
            try:
                self.run()
            except Exception:
                pass

    def is_alive(self):
        return self._waits

    def setDaemon(self, daemon):
        self.daemon = daemon

    def getName(self):
        return self.name


class Timer(Thread):
    def __init__(self, interval, function, args=None, kwargs=None):
        Thread.__init__(self, target=function, args=args or (), kwargs=kwargs)
        self.interval = interval

    def cancel(self):
        pass


class _MainThread(Thread):
    pass


def current_thread():
    return _MainThread(name="MainThread")


def main_thread():
    return _MainThread(name="MainThread")


def get_ident():
    return 1


def active_count():
    return 1


def enumerate():
    return [current_thread()]
