def is_available():
    return False


def device_count():
    return 0


def empty_cache():
    pass


def synchronize(device=None):
    pass


def manual_seed(seed):
    pass


def manual_seed_all(seed):
    pass


def memory_allocated(device=None):
    return 0


def memory_reserved(device=None):
    return 0


def max_memory_allocated(device=None):
    return 0


def max_memory_reserved(device=None):
    return 0


def reset_peak_memory_stats(device=None):
    pass


def set_device(device):
    pass


def current_device():
    return 0


def get_device_name(device=None):
    return "cpu"
