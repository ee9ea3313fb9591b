import time

default_timer = time.perf_counter


def timeit(stmt="pass", setup="pass", timer=default_timer, number=1000000, globals=None):
    start = timer()
    if callable(stmt):
        stmt()
    return timer() - start


def repeat(stmt="pass", setup="pass", timer=default_timer, repeat=5, number=1000000, globals=None):
    return [timeit(stmt, setup, timer, number, globals) for _ in range(repeat)]
