FIRST_COMPLETED = "FIRST_COMPLETED"
FIRST_EXCEPTION = "FIRST_EXCEPTION"
ALL_COMPLETED = "ALL_COMPLETED"


class CancelledError(Exception):
    pass


class Future:
    def __init__(self):
        self._result = self._exception = None
        self._done = False

    def set_result(self, result):
        self._result, self._done = result, True

    def set_exception(self, exception):
        self._exception, self._done = exception, True

    def result(self, timeout=None):
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self, timeout=None):
        return self._exception

    def done(self):
        return self._done

    def running(self):
        return False

    def cancelled(self):
        return False

    def cancel(self):
        return False

    def add_done_callback(self, fn):
        fn(self)


# What is submitted runs at once.
class Executor:
    def __init__(self, max_workers=None, *args, **options):
        self._max_workers = max_workers

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        return iter([fn(*args) for args in zip(*iterables)])

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        return False


class ThreadPoolExecutor(Executor):
    pass


class ProcessPoolExecutor(Executor):
    pass


def as_completed(fs, timeout=None):
    return iter(list(fs))


def wait(fs, timeout=None, return_when=ALL_COMPLETED):
    from collections import namedtuple
    return namedtuple("DoneAndNotDoneFutures", "done not_done")(set(fs), set())
