timezone = 0
altzone = 0
daylight = 0
tzname = ("UTC", "UTC")
_names = ("tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst")


class struct_time(tuple):
    def __new__(cls, values):
        return tuple.__new__(cls, tuple(values)[:9])

    tm_year = property(lambda self: self[0])
    tm_mon = property(lambda self: self[1])
    tm_mday = property(lambda self: self[2])
    tm_hour = property(lambda self: self[3])
    tm_min = property(lambda self: self[4])
    tm_sec = property(lambda self: self[5])
    tm_wday = property(lambda self: self[6])
    tm_yday = property(lambda self: self[7])
    tm_isdst = property(lambda self: self[8])
    tm_zone = "UTC"
    tm_gmtoff = 0

    def __repr__(self):
        return "time.struct_time(%s)" % ", ".join(["%s=%d" % pair for pair in zip(_names, self)])


def _made(year, month, day, hour, minute, second):
    import _calendar
    number = _calendar.ordinal(year, month, day)
    return struct_time((year, month, day, hour, minute, second, (number + 6) % 7,
                        number - _calendar.days_before_year(year), 0))


def gmtime(secs=None):
    import _calendar
    seconds = int((time() if secs is None else secs) // 1)
    rest = seconds % 86400
    return _made(*_calendar.from_ordinal(719163 + seconds // 86400), rest // 3600, rest // 60 % 60, rest % 60)


def localtime(secs=None):
    return gmtime(secs)


def mktime(t):
    import _calendar
    return float((_calendar.ordinal(*t[:3]) - 719163) * 86400 + t[3] * 3600 + t[4] * 60 + t[5])


def strftime(format, t=None):
    import _calendar
    return _calendar.formatted(format, (gmtime() if t is None else t)[:6], 0, "UTC", "+0000")


def strptime(string, format="%a %b %d %H:%M:%S %Y"):
    import _calendar
    return _made(*_calendar.parsed(string, format)[:6])


def asctime(t=None):
    return strftime("%c", t)


def ctime(secs=None):
    return strftime("%c", gmtime(secs))


def thread_time():
    return perf_counter()


def process_time_ns():
    return perf_counter_ns()
