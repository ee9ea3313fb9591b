benchmark = False
deterministic = False
enabled = False


def is_available():
    return False
