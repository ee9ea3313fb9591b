import _calendar
import _support
import time as _time

MINYEAR = 1
MAXYEAR = 9999


def _whole(value):
    return int(round(value)) if isinstance(value, float) else value


class timedelta:
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        self._micro = _whole((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60000000
                             + seconds * 1000000 + milliseconds * 1000 + microseconds)

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
        return timedelta(microseconds=self._micro + other._micro) if isinstance(other, timedelta) else NotImplemented

    def __sub__(self, other):
        return timedelta(microseconds=self._micro - other._micro) if isinstance(other, timedelta) else NotImplemented

    def __mul__(self, factor):
        return timedelta(microseconds=self._micro * factor)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            return self._micro / other._micro
        return timedelta(microseconds=self._micro / other)

    def __floordiv__(self, other):
        if isinstance(other, timedelta):
            return self._micro // other._micro
        return timedelta(microseconds=self._micro // other)

    def __mod__(self, other):
        return timedelta(microseconds=self._micro % other._micro)

    def __neg__(self):
        return timedelta(microseconds=-self._micro)

    def __pos__(self):
        return self

    def __abs__(self):
        return timedelta(microseconds=abs(self._micro))

    def __bool__(self):
        return self._micro != 0

    def __eq__(self, other):
        return isinstance(other, timedelta) and self._micro == other._micro

    def __lt__(self, other):
        return self._micro < other._micro

    def __le__(self, other):
        return self._micro <= other._micro

    def __gt__(self, other):
        return self._micro > other._micro

    def __ge__(self, other):
        return self._micro >= other._micro

    def __hash__(self):
        return hash(self._micro)


class tzinfo:
    def utcoffset(self, dt):
        return None


class _Utc:
    def __get__(self, obj, cls=None):
        return UTC


class timezone(tzinfo):
    utc = _Utc()

    def __init__(self, offset, name=None):
        self._offset = offset
        self._name = name

    def utcoffset(self, dt):
        return self._offset

    def dst(self, dt):
        return None

    def tzname(self, dt):
        return self._name or "UTC" + (_offset_text(self._offset, ":") if self._offset else "")

    def __repr__(self):
        if not self._offset and self._name is None:
            return "datetime.timezone.utc"
        return "datetime.timezone(%r%s)" % (self._offset, "" if self._name is None else ", %r" % self._name)

    def __str__(self):
        return self.tzname(None)

    def __eq__(self, other):
        return isinstance(other, timezone) and self._offset == other._offset

    def __hash__(self):
        return hash(self._offset)


UTC = timezone(timedelta(0))


def _offset_text(offset, colon):
    seconds = int(offset.total_seconds())
    sign = "-" if seconds < 0 else "+"
    seconds = abs(seconds)
    return "%s%02d%s%02d" % (sign, seconds // 3600, colon, seconds // 60 % 60)


class time:
    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None):
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.tzinfo = tzinfo

    def isoformat(self):
        text = "%02d:%02d:%02d" % (self.hour, self.minute, self.second)
        return text + (".%06d" % self.microsecond if self.microsecond else "")

    __str__ = isoformat

    def __repr__(self):
        parts = [self.hour, self.minute]
        if self.second or self.microsecond:
            parts.append(self.second)
        if self.microsecond:
            parts.append(self.microsecond)
        return "datetime.time(%s)" % ", ".join([repr(p) for p in parts])

    def _key(self):
        return (self.hour, self.minute, self.second, self.microsecond)

    def strftime(self, format):
        return _calendar.formatted(format, (1900, 1, 1, self.hour, self.minute, self.second), self.microsecond)

    def __eq__(self, other):
        return isinstance(other, time) and self._key() == other._key()

    def __lt__(self, other):
        return self._key() < other._key()

    def __hash__(self):
        return hash(self._key())


class date:
    def __init__(self, year, month, day):
        if not 1 <= month <= 12:
            raise ValueError("month must be in 1..12")
        if not 1 <= day <= _calendar.days_in_month(year, month):
            raise ValueError("day is out of range for month")
        self.year, self.month, self.day = year, month, day

    @classmethod
    def today(cls):
        return cls.fromtimestamp(_time.time())

    @classmethod
    def fromtimestamp(cls, timestamp):
        return cls(*_calendar.from_ordinal(719163 + int(timestamp // 86400)))

    @classmethod
    def fromordinal(cls, number):
        return cls(*_calendar.from_ordinal(number))

    @classmethod
    def fromisoformat(cls, text):
        return cls(*[int(part) for part in text.split("-")])

    def toordinal(self):
        return _calendar.ordinal(self.year, self.month, self.day)

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.weekday() + 1

    def isocalendar(self):
        return _calendar.iso_week(self.year, self.month, self.day)

    def isoformat(self):
        return "%04d-%02d-%02d" % (self.year, self.month, self.day)

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return "datetime.date(%d, %d, %d)" % (self.year, self.month, self.day)

    def _fields(self):
        return (self.year, self.month, self.day, 0, 0, 0)

    def timetuple(self):
        return _time._made(*self._fields())

    def ctime(self):
        return self.strftime("%c")

    def strftime(self, format):
        return _calendar.formatted(format, self._fields())

    def __format__(self, spec):
        return self.strftime(spec) if spec else str(self)

    def replace(self, year=None, month=None, day=None):
        return type(self)(self.year if year is None else year, self.month if month is None else month,
                          self.day if day is None else day)

    def __add__(self, other):
        return date.fromordinal(self.toordinal() + other.days) if isinstance(other, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return date.fromordinal(self.toordinal() - other.days)
        return timedelta(days=self.toordinal() - other.toordinal())

    def _key(self):
        return (self.year, self.month, self.day)

    def __eq__(self, other):
        return type(other) is type(self) and self._key() == other._key()

    def __lt__(self, other):
        return self._key() < other._key()

    def __le__(self, other):
        return self._key() <= other._key()

    def __gt__(self, other):
        return self._key() > other._key()

    def __ge__(self, other):
        return self._key() >= other._key()

    def __hash__(self):
        return hash(self._key())


class datetime(date):
    def __init__(self, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        date.__init__(self, year, month, day)
        for name, value, top in (("hour", hour, 23), ("minute", minute, 59), ("second", second, 59)):
            if not 0 <= value <= top:
                raise ValueError("%s must be in 0..%d" % (name, top))
        self.hour, self.minute, self.second, self.microsecond = hour, minute, second, microsecond
        self.tzinfo = tzinfo

    @classmethod
    def _of_micro(cls, micro, zone=None):
        days, rest = micro // 86400000000, micro % 86400000000
        second = rest // 1000000
        return cls(*_calendar.from_ordinal(days), second // 3600, second // 60 % 60, second % 60, rest % 1000000,
                   zone)

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_time.time(), tz)

    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(_time.time())

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def fromtimestamp(cls, timestamp, tz=None):
        if _support.is_unknown(timestamp):
            return _support.unknown("datetime")
        micro = 719163 * 86400000000 + _whole(timestamp * 1000000)
        if isinstance(tz, tzinfo):
            micro += tz.utcoffset(None)._micro
        return cls._of_micro(micro, tz)

    @classmethod
    def utcfromtimestamp(cls, timestamp):
        return cls.fromtimestamp(timestamp)

    @classmethod
    def combine(cls, day, clock, tzinfo=None):
        return cls(day.year, day.month, day.day, clock.hour, clock.minute, clock.second, clock.microsecond,
                   clock.tzinfo if tzinfo is None else tzinfo)

    @classmethod
    def strptime(cls, text, format):
        *parts, offset = _calendar.parsed(text, format)
        return cls(*parts, None if offset is None else timezone(timedelta(seconds=offset)))

    @classmethod
    def fromisoformat(cls, text):
        format = "%Y-%m-%d"
        if len(text) > 10:
            format += text[10] + "%H:%M"
            rest = text[16:]
            format += "" if not rest.startswith(":") else ":%S.%f" if "." in rest else ":%S"
            format += "%z" if rest.endswith("Z") or "+" in rest or "-" in rest else ""
        return cls.strptime(text, format)

    def _micro(self):
        seconds = (self.toordinal() * 24 + self.hour) * 3600 + self.minute * 60 + self.second
        return seconds * 1000000 + self.microsecond

    def _universal(self):
        offset = self.utcoffset()
        return self._micro() - (0 if offset is None else offset._micro)

    def utcoffset(self):
        return None if self.tzinfo is None else self.tzinfo.utcoffset(self)

    def tzname(self):
        return None if self.tzinfo is None else self.tzinfo.tzname(self)

    def date(self):
        return date(self.year, self.month, self.day)

    def time(self):
        return time(self.hour, self.minute, self.second, self.microsecond)

    def timestamp(self):
        return (self._universal() - 719163 * 86400000000) / 1000000

    def astimezone(self, tz=None):
        tz = UTC if tz is None else tz
        return type(self)._of_micro(self._universal() + tz.utcoffset(self)._micro, tz)

    def isoformat(self, sep="T", timespec="auto"):
        text = "%04d-%02d-%02d%s%02d:%02d" % (self.year, self.month, self.day, sep, self.hour, self.minute)
        if timespec in ("auto", "seconds", "milliseconds", "microseconds"):
            text += ":%02d" % self.second
        if timespec == "milliseconds":
            text += ".%03d" % (self.microsecond // 1000)
        elif timespec == "microseconds" or timespec == "auto" and self.microsecond:
            text += ".%06d" % self.microsecond
        offset = self.utcoffset()
        return text if offset is None else text + _offset_text(offset, ":")

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        parts = [self.year, self.month, self.day, self.hour, self.minute]
        if self.second or self.microsecond:
            parts.append(self.second)
        if self.microsecond:
            parts.append(self.microsecond)
        zone = "" if self.tzinfo is None else ", tzinfo=%r" % self.tzinfo
        return "datetime.datetime(%s%s)" % (", ".join([repr(p) for p in parts]), zone)

    def _fields(self):
        return (self.year, self.month, self.day, self.hour, self.minute, self.second)

    def strftime(self, format):
        offset = self.utcoffset()
        return _calendar.formatted(format, self._fields(), self.microsecond, self.tzname() or "",
                                   "" if offset is None else _offset_text(offset, ""))

    def replace(self, **changes):
        names = ("year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo")
        return type(self)(**{name: changes.get(name, getattr(self, name)) for name in names})

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return type(self)._of_micro(self._micro() + other._micro, self.tzinfo)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return type(self)._of_micro(self._micro() - other._micro, self.tzinfo)
        return timedelta(microseconds=self._universal() - other._universal())

    def _key(self):
        return (self._universal(),)
