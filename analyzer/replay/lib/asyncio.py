def run(coro, debug=None):
    return _drive(coro)


def _drive(coro):
    async def outer():
        return await coro
    it = outer()
    try:
        while True:
            it.send(None)
    except StopIteration as stop:
        return stop.value


async def sleep(delay, result=None):
    return result


async def gather(*coros, return_exceptions=False):
    return [await c for c in coros]


def create_task(coro, name=None):
    return coro
