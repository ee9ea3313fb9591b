import _support
from collections import deque as _deque


class Empty(Exception):
    pass


class Full(Exception):
    pass


# Nothing else runs meanwhile: what would wait for another thread is stood in for.
class Queue:
    def __init__(self, maxsize=0):
        self.maxsize = maxsize
        self._init()

    def _init(self):
        self.queue = _deque()

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.popleft()

    def qsize(self):
        return len(self.queue)

    def empty(self):
        return not self.queue

    def full(self):
        return 0 < self.maxsize <= len(self.queue)

    def put(self, item, block=True, timeout=None):
        if self.full():
            if not block or timeout is not None:
                raise Full
            _support.unknown("a thread that takes from a queue")
            self._get()
        self._put(item)

    def get(self, block=True, timeout=None):
        if not self.queue:
            if not block or timeout is not None:
                raise Empty
            return _support.unknown("item of a queue")
        return self._get()

    def put_nowait(self, item):
        self.put(item, False)

    def get_nowait(self):
        return self.get(False)

    def task_done(self):
        pass

    def join(self):
        pass


class LifoQueue(Queue):
    def _init(self):
        self.queue = []

    def _get(self):
        return self.queue.pop()


class PriorityQueue(Queue):
    def _init(self):
        self.queue = []

    def _put(self, item):
        import heapq
        heapq.heappush(self.queue, item)

    def _get(self):
        import heapq
        return heapq.heappop(self.queue)


class SimpleQueue(Queue):
    def __init__(self):
        Queue.__init__(self)
