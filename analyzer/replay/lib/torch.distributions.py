import math
import torch


class Distribution:
    has_rsample = False

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    def _extended_shape(self, sample_shape=()):
        return torch.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n):
        return self.sample((n,))

    def perplexity(self):
        return torch.exp(self.entropy())

    @property
    def stddev(self):
        return self.variance.sqrt()


def _broadcast_all(*values):
    given = [v for v in values if isinstance(v, torch.Tensor)]
    dtype = given[0].dtype if given else torch.get_default_dtype()
    return torch.broadcast_tensors(*[v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=dtype)
                                     for v in values])


def _standard_normal(shape, dtype):
    return torch.empty(shape, dtype=dtype).normal_()


def _sum_rightmost(value, n):
    return value if n == 0 else value.reshape((*value.shape[:-n], -1)).sum(-1)


class Normal(Distribution):
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = _broadcast_all(loc, scale)
        super().__init__(self.loc.size())

    def expand(self, batch_shape):
        return Normal(self.loc.expand(batch_shape), self.scale.expand(batch_shape))

    @property
    def mean(self):
        return self.loc

    @property
    def variance(self):
        return self.scale.pow(2)

    @property
    def mode(self):
        return self.loc

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()):
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + eps * self.scale

    def cdf(self, value):
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def log_prob(self, value):
        var = self.scale ** 2
        log_scale = self.scale.log()
        return -((value - self.loc) ** 2) / (2 * var) - log_scale - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        inner = len(shape) - reinterpreted_batch_ndims - len(base_distribution.event_shape)
        super().__init__(shape[:inner], shape[inner:])
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def mode(self):
        return self.base_dist.mode

    @property
    def variance(self):
        return self.base_dist.variance

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value):
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)


class Gamma(Distribution):
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = _broadcast_all(concentration, rate)
        super().__init__(self.concentration.size())

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)
        return value

    def log_prob(self, value):
        value = torch.as_tensor(value, dtype=self.rate.dtype)
        return (torch.xlogy(self.concentration, self.rate) + torch.xlogy(self.concentration - 1, value)
                - self.rate * value - torch.lgamma(self.concentration))

    def entropy(self):
        return (self.concentration - torch.log(self.rate) + torch.lgamma(self.concentration)
                + (1.0 - self.concentration) * torch.digamma(self.concentration))


class Chi2(Gamma):
    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5)

    @property
    def df(self):
        return self.concentration * 2


class Exponential(Distribution):
    has_rsample = True

    def __init__(self, rate, validate_args=None):
        self.rate, = _broadcast_all(rate)
        super().__init__(self.rate.size())

    @property
    def mean(self):
        return self.rate.reciprocal()

    @property
    def mode(self):
        return torch.zeros_like(self.rate)

    @property
    def stddev(self):
        return self.rate.reciprocal()

    @property
    def variance(self):
        return self.rate.pow(-2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value):
        return self.rate.log() - self.rate * value

    def entropy(self):
        return 1.0 - torch.log(self.rate)


class Dirichlet(Distribution):
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        from torch.distributions.dirichlet import _Dirichlet
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        return (torch.xlogy(self.concentration - 1.0, value).sum(-1) + torch.lgamma(self.concentration.sum(-1))
                - torch.lgamma(self.concentration).sum(-1))

    def entropy(self):
        k = self.concentration.size(-1)
        total = self.concentration.sum(-1)
        return (torch.lgamma(self.concentration).sum(-1) - torch.lgamma(total) - (k - total) * torch.digamma(total)
                - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1))


class Beta(Distribution):
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        if isinstance(concentration1, torch.Tensor) or isinstance(concentration0, torch.Tensor):
            both = torch.stack(_broadcast_all(concentration1, concentration0), -1)
        else:
            both = torch.tensor([float(concentration1), float(concentration0)])
        self._dirichlet = Dirichlet(both)
        super().__init__(self._dirichlet.batch_shape)

    @property
    def concentration1(self):
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self):
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()


def _precision_to_scale_tril(precision):
    turned = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.transpose(torch.flip(turned, (-2, -1)), -2, -1)
    return torch.linalg.solve_triangular(inverse, torch.eye(precision.shape[-1], dtype=precision.dtype), upper=False)


# x is taken apart into what each matrix of a batch is for, and that of one matrix becomes columns.
def _batch_mahalanobis(tril, x):
    n, shape, batch = x.size(-1), x.shape[:-1], tril.dim() - 2
    outer = len(shape) - batch
    parts = list(shape[:outer])
    for size, whole in zip(tril.shape[:-2], shape[outer:]):
        parts += [whole // size, size]
    x = x.reshape((*parts, n))
    end = outer + 2 * batch
    x = x.permute([*range(outer), *range(outer, end, 2), *range(outer + 1, end, 2), end])
    flat = tril.reshape(-1, n, n)
    columns = x.reshape(-1, flat.size(0), n).permute(1, 2, 0)
    squares = torch.linalg.solve_triangular(flat, columns, upper=False).pow(2).sum(-2).t().reshape(x.shape[:-1])
    back = list(range(outer))
    for i in range(batch):
        back += [outer + i, outer + batch + i]
    return squares.permute(back).reshape(shape)


class MultivariateNormal(Distribution):
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        batch_shape = torch.broadcast_shapes(given[0].shape[:-2], loc.shape[:-1])
        whole = given[0].expand((*batch_shape, -1, -1))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:])
        if scale_tril is not None:
            self.scale_tril = whole
            self._unbroadcasted_scale_tril = scale_tril
        elif covariance_matrix is not None:
            self.covariance_matrix = whole
            self._unbroadcasted_scale_tril = torch.linalg.cholesky(covariance_matrix)
        else:
            self.precision_matrix = whole
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(precision_matrix)

    def __getattr__(self, name):
        if name not in ("scale_tril", "covariance_matrix", "precision_matrix"):
            raise AttributeError(name)
        tril = self._unbroadcasted_scale_tril
        with torch.enable_grad():
            if name == "scale_tril":
                value = tril
            elif name == "covariance_matrix":
                value = torch.matmul(tril, tril.mT)
            else:
                value = torch.cholesky_solve(torch.eye(tril.size(-1), dtype=tril.dtype), tril)
            value = value.expand((*self._batch_shape, *self._event_shape, *self._event_shape))
        setattr(self, name, value)
        return value

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def rsample(self, sample_shape=()):
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + torch.matmul(self._unbroadcasted_scale_tril, eps.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value):
        diff = value - self.loc
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, diff)
        half_log_det = self._half_log_det()
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det

    def entropy(self):
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


class Categorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            self._logits = None
        else:
            self._logits = logits - logits.logsumexp(dim=-1, keepdim=True)
            self._given = True
        self._is_probs = probs is not None
        super().__init__((probs if self._is_probs else self._logits).shape[:-1])

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
        super().__init__(self.probs.shape)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand((*sample_shape, *self.probs.shape)))

    def log_prob(self, value):
        logits, value = _broadcast_all(self.logits, value)
        return -torch.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Uniform(Distribution):
    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = _broadcast_all(low, high)
        super().__init__(self.low.size())

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def variance(self):
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=()):
        rand = torch.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value):
        low = self.low.le(value).type_as(self.low)
        high = self.high.gt(value).type_as(self.low)
        return torch.log(low.mul(high)) - torch.log(self.high - self.low)

    def entropy(self):
        return torch.log(self.high - self.low)


def _kl_normal(p, q):
    var_ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (var_ratio + t1 - 1 - var_ratio.log())


def _kl_gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    t4 = (q.rate - p.rate) * (p.concentration / p.rate)
    return t1 + t2 + t3 + t4


def _kl_beta(p, q):
    sum_p = p.concentration1 + p.concentration0
    sum_q = q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + sum_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + sum_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    t5 = (sum_q - sum_p) * torch.digamma(sum_p)
    return t1 - t2 + t3 + t4 + t5


def _kl_dirichlet(p, q):
    sum_p = p.concentration.sum(-1)
    sum_q = q.concentration.sum(-1)
    t1 = sum_p.lgamma() - sum_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - sum_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


def _kl_multivariate(p, q):
    half = q._half_log_det() - p._half_log_det()
    n = p.event_shape[0]
    shape = torch.broadcast_shapes(q._unbroadcasted_scale_tril.shape, p._unbroadcasted_scale_tril.shape)
    solved = torch.linalg.solve_triangular(q._unbroadcasted_scale_tril.expand(shape),
                                           p._unbroadcasted_scale_tril.expand(shape), upper=False)
    trace = solved.reshape(-1, n * n).pow(2).sum(-1).reshape(shape[:-2])
    distance = _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return half + 0.5 * (trace + distance - n)


def _kl_bernoulli(p, q):
    softplus = torch.nn.functional.softplus
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1[q.probs == 0] = math.inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2[q.probs == 1] = math.inf
    t2[p.probs == 1] = 0
    return t1 + t2


def _kl_categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = math.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


def _kl_exponential(p, q):
    ratio = q.rate / p.rate
    t1 = -ratio.log()
    return t1 + ratio - 1


def _kl_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


def kl_divergence(p, q):
    for kind, divergence in ((Normal, _kl_normal), (Categorical, _kl_categorical), (Bernoulli, _kl_bernoulli),
                             (Gamma, _kl_gamma), (Beta, _kl_beta), (Dirichlet, _kl_dirichlet),
                             (MultivariateNormal, _kl_multivariate), (Exponential, _kl_exponential),
                             (Independent, _kl_independent)):
        if isinstance(p, kind) and isinstance(q, kind):
            return divergence(p, q)
    raise NotImplementedError("No KL(p || q) is implemented for p type %s and q type %s" % (
        type(p).__name__, type(q).__name__))
