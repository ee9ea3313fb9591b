class tqdm:
    def __init__(self, iterable=None, *args, total=None, desc=None, **kwargs):
        self.iterable = iterable
        self.total = total
        self.desc = desc
        self.n = 0

    def __iter__(self):
        for obj in self.iterable:
            yield obj
            self.n += 1

    def __len__(self):
        return self.total if self.iterable is None else len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def update(self, n=1):
        self.n += n

    def set_postfix(self, *args, **kwargs):
        pass

    def set_description(self, *args, **kwargs):
        pass

    set_postfix_str = set_description_str = set_description
    refresh = reset = clear = set_description

    def close(self):
        pass

    @staticmethod
    def write(*args, **kwargs):
        pass


def trange(*args, **kwargs):
    return tqdm(range(*args), **kwargs)
