import _support


class _Hash:
    digest_size = 16
    block_size = 64
    name = "md5"

    def __init__(self, data=b"", usedforsecurity=True):
        self._data = b""
        self._unknown = False
        self.update(data)

    def update(self, data):
        if _support.is_unknown(data):
            self._unknown = True
        elif isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        else:
            self._data += bytes(data)

    def copy(self):
        made = type(self)(self._data)
        made._unknown = self._unknown
        return made

    def digest(self):
        return _support.unknown("digest") if self._unknown else self._digest()

    def hexdigest(self):
        return _support.unknown("digest") if self._unknown else self._digest().hex()

    def _blocks(self, order):
        size = self.block_size
        data = self._data + b"\x80"
        data += bytes((size - size // 8 - len(data)) % size)
        data += (8 * len(self._data)).to_bytes(size // 8, order)
        word = size // 16
        for at in range(0, len(data), size):
            yield [int.from_bytes(data[i:i + word], order) for i in range(at, at + size, word)]


def _turned(x, by):
    return (x << by | x >> 32 - by) & 0xffffffff


def _root_bits(prime, degree, bits):
    """The first bits of the fraction of a root."""
    n = prime << degree * bits
    low, high = 0, 1 << bits + 9
    while low + 1 < high:
        middle = low + high >> 1
        if middle ** degree <= n:
            low = middle
        else:
            high = middle
    return low & (1 << bits) - 1


def _primes(count):
    found = []
    n = 2
    while len(found) < count:
        if all([n % p for p in found]):
            found.append(n)
        n += 1
    return found


class md5(_Hash):
    def _digest(self):
        from math import floor, sin
        turns = [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4
        table = [floor(abs(sin(i + 1)) * 2 ** 32) & 0xffffffff for i in range(64)]
        state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
        for words in self._blocks("little"):
            a, b, c, d = state
            for i in range(64):
                if i < 16:
                    f, g = b & c | ~b & d, i
                elif i < 32:
                    f, g = d & b | ~d & c, (5 * i + 1) % 16
                elif i < 48:
                    f, g = b ^ c ^ d, (3 * i + 5) % 16
                else:
                    f, g = c ^ (b | ~d & 0xffffffff), 7 * i % 16
                f = (f + a + table[i] + words[g]) & 0xffffffff
                a, d, c, b = d, c, b, (b + _turned(f, turns[i])) & 0xffffffff
            state = [(x + y) & 0xffffffff for x, y in zip(state, (a, b, c, d))]
        return b"".join([x.to_bytes(4, "little") for x in state])


class sha1(_Hash):
    name = "sha1"
    digest_size = 20

    def _digest(self):
        state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
        for words in self._blocks("big"):
            for i in range(16, 80):
                words.append(_turned(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1))
            a, b, c, d, e = state
            for i in range(80):
                if i < 20:
                    f, k = b & c | ~b & d, 0x5a827999
                elif i < 40:
                    f, k = b ^ c ^ d, 0x6ed9eba1
                elif i < 60:
                    f, k = b & c | b & d | c & d, 0x8f1bbcdc
                else:
                    f, k = b ^ c ^ d, 0xca62c1d6
                a, b, c, d, e = (_turned(a, 5) + f + e + k + words[i]) & 0xffffffff, a, _turned(b, 30), c, d
            state = [(x + y) & 0xffffffff for x, y in zip(state, (a, b, c, d, e))]
        return b"".join([x.to_bytes(4, "big") for x in state])


class _Sha2(_Hash):
    _bits = 32
    _turns = ((7, 18, 3), (17, 19, 10), (6, 11, 25), (2, 13, 22))
    _first = 0

    def _digest(self):
        bits, rounds = self._bits, 64 if self._bits == 32 else 80
        mask = (1 << bits) - 1
        primes = _primes(rounds)
        table = [_root_bits(p, 3, bits) for p in primes]
        state = [_root_bits(p, 2, 64) & mask for p in primes[self._first:self._first + 8]] if self._first \
            else [_root_bits(p, 2, bits) for p in primes[:8]]
        (p1, p2, p3), (q1, q2, q3), (r1, r2, r3), (s1, s2, s3) = self._turns

        def turned(x, by):
            return (x >> by | x << bits - by) & mask
        for words in self._blocks("big"):
            for i in range(16, rounds):
                x, y = words[i - 15], words[i - 2]
                words.append((words[i - 16] + (turned(x, p1) ^ turned(x, p2) ^ x >> p3) + words[i - 7]
                              + (turned(y, q1) ^ turned(y, q2) ^ y >> q3)) & mask)
            a, b, c, d, e, f, g, h = state
            for i in range(rounds):
                t = (h + (turned(e, r1) ^ turned(e, r2) ^ turned(e, r3)) + ((e & f) ^ (~e & g)) + table[i] + words[i])
                u = (turned(a, s1) ^ turned(a, s2) ^ turned(a, s3)) + ((a & b) ^ (a & c) ^ (b & c))
                a, b, c, d, e, f, g, h = (t + u) & mask, a, b, c, (d + t) & mask, e, f, g
            state = [(x + y) & mask for x, y in zip(state, (a, b, c, d, e, f, g, h))]
        return b"".join([x.to_bytes(bits // 8, "big") for x in state])[:self.digest_size]


class sha256(_Sha2):
    name = "sha256"
    digest_size = 32


class sha224(_Sha2):
    name = "sha224"
    digest_size = 28
    _first = 8


class sha512(_Sha2):
    name = "sha512"
    digest_size = 64
    block_size = 128
    _bits = 64
    _turns = ((1, 8, 7), (19, 61, 6), (14, 18, 41), (28, 34, 39))


class sha384(sha512):
    name = "sha384"
    digest_size = 48
    _first = 8


algorithms_available = {"md5", "sha1", "sha224", "sha256", "sha384", "sha512"}
algorithms_guaranteed = algorithms_available


def new(name, data=b"", **kwargs):
    known = {"md5": md5, "sha1": sha1, "sha224": sha224, "sha256": sha256, "sha384": sha384, "sha512": sha512}
    if name not in known:
        return _support.unknown("hashlib.new()")
    return known[name](data)
