_days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_months = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")


def days_before_year(year):
    year -= 1
    return year * 365 + year // 4 - year // 100 + year // 400


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year, month):
    return 29 if month == 2 and is_leap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def ordinal(year, month, day):
    return days_before_year(year) + sum([days_in_month(year, m) for m in range(1, month)]) + day


def from_ordinal(number):
    year = max(number * 400 // 146097, 1)
    while days_before_year(year + 1) < number:
        year += 1
    while days_before_year(year) >= number:
        year -= 1
    number -= days_before_year(year)
    month = 1
    while number > days_in_month(year, month):
        number -= days_in_month(year, month)
        month += 1
    return year, month, number


def iso_week(year, month, day):
    today = ordinal(year, month, day)
    thursday = today - (today + 6) % 7 + 3
    iso_year = from_ordinal(thursday)[0]
    return iso_year, (thursday - ordinal(iso_year, 1, 1)) // 7 + 1, (today + 6) % 7 + 1


def _field(code, y, mo, d, h, mi, s, micro, zone, offset):
    today = ordinal(y, mo, d)
    weekday = (today + 6) % 7
    day = today - days_before_year(y)
    if code == "Y":
        return "%d" % y
    if code in "mdHMS":
        return "%02d" % {"m": mo, "d": d, "H": h, "M": mi, "S": s}[code]
    if code == "y":
        return "%02d" % (y % 100)
    if code in "aA":
        return _days[weekday][:3] if code == "a" else _days[weekday]
    if code in "bBh":
        return _months[mo - 1] if code == "B" else _months[mo - 1][:3]
    if code == "I":
        return "%02d" % ((h + 11) % 12 + 1)
    if code == "p":
        return "AM" if h < 12 else "PM"
    if code == "f":
        return "%06d" % micro
    if code == "j":
        return "%03d" % day
    if code == "w":
        return "%d" % ((weekday + 1) % 7)
    if code == "u":
        return "%d" % (weekday + 1)
    if code == "U":
        return "%02d" % ((day + 6 - (weekday + 1) % 7) // 7)
    if code == "W":
        return "%02d" % ((day + 6 - weekday) // 7)
    if code == "V":
        return "%02d" % iso_week(y, mo, d)[1]
    if code == "G":
        return "%d" % iso_week(y, mo, d)[0]
    if code == "z":
        return offset
    if code == "Z":
        return zone
    if code == "s":
        return "%d" % ((today - 719163) * 86400 + h * 3600 + mi * 60 + s)
    if code == "F":
        return "%d-%02d-%02d" % (y, mo, d)
    if code in "TX":
        return "%02d:%02d:%02d" % (h, mi, s)
    if code == "R":
        return "%02d:%02d" % (h, mi)
    if code in "Dx":
        return "%02d/%02d/%02d" % (mo, d, y % 100)
    if code == "c":
        return "%s %s %2d %02d:%02d:%02d %d" % (_days[weekday][:3], _months[mo - 1][:3], d, h, mi, s, y)
    return {"n": "\n", "t": "\t", "%": "%"}.get(code, "%" + code)


def formatted(format, fields, micro=0, zone="", offset=""):
    out, at = [], 0
    while at < len(format):
        if format[at] == "%" and at + 1 < len(format):
            out.append(_field(format[at + 1], *fields, micro, zone, offset))
            at += 2
        else:
            out.append(format[at])
            at += 1
    return "".join(out)


def _named(text, at, names):
    for number, name in enumerate(names):
        for word in (name, name[:3]):
            if text[at:at + len(word)].lower() == word.lower():
                return number, at + len(word)
    raise ValueError("time data %r does not match" % text)


def parsed(text, format):
    """Year, month, day, hour, minute, second, microsecond, offset in seconds or None."""
    for short, long in (("%F", "%Y-%m-%d"), ("%T", "%H:%M:%S"), ("%R", "%H:%M"), ("%D", "%m/%d/%y")):
        format = format.replace(short, long)
    found = {"Y": 1900, "m": 1, "d": 1, "H": 0, "M": 0, "S": 0, "f": 0, "z": None, "p": 0}
    widths = {"Y": 4, "m": 2, "d": 2, "H": 2, "I": 2, "M": 2, "S": 2, "f": 6, "y": 2, "j": 3}
    at = place = 0
    while place < len(format):
        c = format[place]
        code = format[place + 1] if c == "%" and place + 1 < len(format) else ""
        place += 2 if code else 1
        if code in widths:
            end = at
            while end < len(text) and end - at < widths[code] and text[end].isdigit():
                end += 1
            if end == at:
                raise ValueError("time data %r does not match format %r" % (text, format))
            number = int(text[at:end])
            if code == "y":
                found["Y"] = 2000 + number if number < 69 else 1900 + number
            elif code == "f":
                found["f"] = number * 10 ** (6 - (end - at))
            else:
                found["H" if code == "I" else code] = number
            at = end
        elif code in ("b", "B"):
            found["m"], at = _named(text, at, _months)
            found["m"] += 1
        elif code in ("a", "A"):
            _, at = _named(text, at, _days)
        elif code == "p":
            found["p"] = 12 if text[at:at + 2].upper() == "PM" else 0
            found["H"] %= 12
            at += 2
        elif code == "z":
            if text[at:at + 1] == "Z":
                found["z"] = 0
                at += 1
            else:
                digits = text[at + 1:at + 6].replace(":", "")[:4]
                found["z"] = (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if text[at] == "-" else 1)
                at += 6 if text[at + 3:at + 4] == ":" else 5
        elif (code or c) == text[at:at + 1] or code == "%" and text[at:at + 1] == "%":
            at += 1
        elif c.isspace() and text[at:at + 1].isspace():
            while text[at:at + 1].isspace():
                at += 1
        else:
            raise ValueError("time data %r does not match format %r" % (text, format))
    if at < len(text):
        raise ValueError("unconverted data remains: %s" % text[at:])
    return (found["Y"], found["m"], found["d"], found["H"] + found["p"], found["M"], found["S"], found["f"],
            found["z"])
