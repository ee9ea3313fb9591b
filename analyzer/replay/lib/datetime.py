import _support


class timedelta:
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        self._micro = int(round((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60000000
                                + seconds * 1000000 + milliseconds * 1000 + microseconds))

    @property
    def days(self):
        return self._micro // 86400000000

    @property
    def seconds(self):
        return self._micro // 1000000 % 86400

    @property
    def microseconds(self):
        return self._micro % 1000000

    def total_seconds(self):
        return self._micro / 1000000

    def __str__(self):
        text = "%d:%02d:%02d" % (self.seconds // 3600, self.seconds // 60 % 60, self.seconds % 60)
        if self.days:
            text = "%d day%s, " % (self.days, "" if abs(self.days) == 1 else "s") + text
        return text + (".%06d" % self.microseconds if self.microseconds else "")

    def __repr__(self):
        parts = [(n, getattr(self, n)) for n in ("days", "seconds", "microseconds")]
        return "datetime.timedelta(%s)" % (", ".join(["%s=%d" % p for p in parts if p[1]]) or "0")

    def __add__(self, other):
        return timedelta(microseconds=self._micro + other._micro)

    def __sub__(self, other):
        return timedelta(microseconds=self._micro - other._micro)

    def __mul__(self, factor):
        return timedelta(microseconds=self._micro * factor)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._micro / other._micro
        return timedelta(microseconds=self._micro / other)

    def __eq__(self, other):
        return isinstance(other, timedelta) and self._micro == other._micro

    def __lt__(self, other):
        return self._micro < other._micro

    def __hash__(self):
        return hash(self._micro)


# What a clock shows is not known.
class datetime:
    @classmethod
    def now(cls, tz=None):
        return _support.unknown("datetime.now()")

    utcnow = today = fromtimestamp = now


class date:
    @classmethod
    def today(cls):
        return _support.unknown("date.today()")


class timezone:
    utc = None
