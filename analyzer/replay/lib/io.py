class _Memory:
    _empty = ""

    def __init__(self, initial=None):
        self._parts = [initial] if initial else []
        self._at = 0
        self.closed = False

    def write(self, part):
        self._parts.append(part)
        return len(part)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def getvalue(self):
        return self._empty.join(self._parts)

    def read(self, size=-1):
        whole = self.getvalue()
        start = self._at
        self._at = len(whole) if size is None or size < 0 else min(len(whole), start + size)
        return whole[start:self._at]

    def readline(self):
        rest = self.getvalue()[self._at:]
        end = rest.find("\n") + 1
        return self.read(end if end > 0 else -1)

    def __iter__(self):
        return iter(self.read().splitlines(True))

    def seek(self, offset, whence=0):
        self._at = offset if whence == 0 else self._at + offset if whence == 1 else len(self.getvalue()) + offset
        return self._at

    def tell(self):
        return self._at

    def truncate(self, size=None):
        kept = self.getvalue()[:self._at if size is None else size]
        self._parts = [kept]
        return len(kept)

    def flush(self):
        pass

    def close(self):
        self.closed = True

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


class StringIO(_Memory):
    pass


class BytesIO(_Memory):
    _empty = b""
