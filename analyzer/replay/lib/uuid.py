class UUID:
    def __init__(self, hex=None, bytes=None, int=None, version=None):
        if hex is not None:
            int = _number(hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", ""), 16)
        elif bytes is not None:
            int = _number(bytes.hex(), 16)
        if version is not None:
            int = int & ~(0xf << 76) & ~(0x3 << 62) | version << 76 | 0x2 << 62
        self.int = int

    @property
    def hex(self):
        return "%032x" % self.int

    @property
    def bytes(self):
        return self.int.to_bytes(16, "big")

    @property
    def version(self):
        return self.int >> 76 & 0xf

    def __str__(self):
        h = self.hex
        return "%s-%s-%s-%s-%s" % (h[:8], h[8:12], h[12:16], h[16:20], h[20:])

    def __repr__(self):
        return "UUID(%r)" % str(self)

    def __int__(self):
        return self.int

    def __eq__(self, other):
        return isinstance(other, UUID) and self.int == other.int

    def __lt__(self, other):
        return self.int < other.int

    def __hash__(self):
        return hash(self.int)


def _number(text, base):
    return int(text, base)


_drawn = [0x9e3779b97f4a7c15f39cc0605cedc835]


# Made up, and another one each time: the program's own random numbers stay as they are.
def uuid4():
    _drawn[0] = (_drawn[0] * 0xd1342543de82ef95 + 0x2545f4914f6cdd1d) & ((1 << 128) - 1)
    return UUID(int=_drawn[0], version=4)


def uuid1(node=None, clock_seq=None):
    _drawn[0] = (_drawn[0] * 0xd1342543de82ef95 + 0x2545f4914f6cdd1d) & ((1 << 128) - 1)
    return UUID(int=_drawn[0], version=1)


def _hashed(kind, namespace, name, version):
    import hashlib
    digest = getattr(hashlib, kind)(namespace.bytes + name.encode()).digest()
    return UUID(bytes=digest[:16], version=version)


def uuid3(namespace, name):
    return _hashed("md5", namespace, name, 3)


def uuid5(namespace, name):
    return _hashed("sha1", namespace, name, 5)


NAMESPACE_DNS = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
NAMESPACE_URL = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
