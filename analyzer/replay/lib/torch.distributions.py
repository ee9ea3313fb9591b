import math
import torch


class Distribution:
    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    @property
    def stddev(self):
        return self.variance.sqrt()


class Normal(Distribution):
    def __init__(self, loc, scale, validate_args=None):
        if not isinstance(loc, torch.Tensor) and not isinstance(scale, torch.Tensor):
            loc, scale = torch.tensor(float(loc)), torch.tensor(float(scale))
        elif not isinstance(loc, torch.Tensor):
            loc = torch.full_like(scale, loc)
        elif not isinstance(scale, torch.Tensor):
            scale = torch.full_like(loc, scale)
        self.loc, self.scale = torch.broadcast_tensors(loc, scale)

    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return self.scale.pow(2)

    def sample(self, sample_shape=()):
        shape = (*sample_shape, *self.loc.shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        shape = (*sample_shape, *self.loc.shape)
        eps = torch.normal(torch.zeros(shape), torch.ones(shape))
        return self.loc + eps * self.scale

    def log_prob(self, value):
        var = self.scale ** 2
        log_scale = self.scale.log()
        return -((value - self.loc) ** 2) / (2 * var) - log_scale - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist = base_distribution
        self.n = reinterpreted_batch_ndims

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value):
        return self.base_dist.log_prob(value).sum([-1 - i for i in range(self.n)])

    def entropy(self):
        return self.base_dist.entropy().sum([-1 - i for i in range(self.n)])


class Categorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            self._logits = None
        else:
            self._logits = logits - logits.logsumexp(dim=-1, keepdim=True)
            self._given = True
        self._is_probs = probs is not None

    @property
    def logits(self):
        if self._logits is None:
            eps = torch.finfo(self.probs.dtype).eps
            self._logits = torch.log(self.probs.clamp(min=eps, max=1 - eps))
        return self._logits

    def __getattr__(self, name):
        if name == "probs":
            self.probs = torch.softmax(self._logits, dim=-1)
            return self.probs
        raise AttributeError(name)

    def sample(self, sample_shape=()):
        param = self.probs
        count = 1
        for n in sample_shape:
            count *= n
        with torch.no_grad():
            flat = param.reshape(-1, param.size(-1))
            drawn = torch.multinomial(flat, count, True).T
            return drawn.reshape((*sample_shape, *param.shape[:-1]))

    def log_prob(self, value):
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        value = value[..., :1]
        return log_pmf.gather(-1, value).squeeze(-1)

    def entropy(self):
        min_real = torch.finfo(self.logits.dtype).min
        logits = torch.clamp(self.logits, min=min_real)
        return -(logits * self.probs).sum(-1)


class Bernoulli(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            self.probs = probs if isinstance(probs, torch.Tensor) else torch.tensor(probs)
            eps = torch.finfo(torch.float32).eps
            clamped = self.probs.clamp(min=eps, max=1 - eps)
            self.logits = torch.log(clamped) - torch.log1p(-clamped)
        else:
            self.logits = logits
            self.probs = torch.sigmoid(logits)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand((*sample_shape, *self.probs.shape)))

    def log_prob(self, value):
        return -torch.nn.functional.binary_cross_entropy_with_logits(self.logits, value, reduction="none")

    def entropy(self):
        return torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Uniform(Distribution):
    def __init__(self, low, high, validate_args=None):
        self.low = low if isinstance(low, torch.Tensor) else torch.tensor(float(low))
        self.high = high if isinstance(high, torch.Tensor) else torch.tensor(float(high))

    def rsample(self, sample_shape=()):
        rand = torch.rand((*sample_shape, *self.low.shape))
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value):
        return -torch.log(self.high - self.low) + torch.zeros_like(value)


def kl_divergence(p, q):
    if isinstance(p, Normal) and isinstance(q, Normal):
        var_ratio = (p.scale / q.scale).pow(2)
        t1 = ((p.loc - q.loc) / q.scale).pow(2)
        return 0.5 * (var_ratio + t1 - 1 - var_ratio.log())
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        return (p.probs * (p.logits - q.logits)).sum(-1)
    raise NotImplementedError
