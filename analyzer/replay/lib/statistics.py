def mean(data):
    data = list(data)
    return sum(data) / len(data)


fmean = mean


def median(data):
    data = sorted(data)
    n = len(data)
    return data[n // 2] if n % 2 else (data[n // 2 - 1] + data[n // 2]) / 2


def pvariance(data):
    data = list(data)
    m = mean(data)
    return sum((x - m) ** 2 for x in data) / len(data)


def variance(data):
    data = list(data)
    m = mean(data)
    return sum((x - m) ** 2 for x in data) / (len(data) - 1)


def stdev(data):
    return variance(data) ** 0.5


def pstdev(data):
    return pvariance(data) ** 0.5
