"""The rows of record_ops.py: name, code, inputs, variants (inputs that require grad, joined by
"+"), and further shapes on which results and gradients are recorded."""

ROWS = []


def row(name, code, inputs, variants=None, shapes=()):
    if variants is None:
        variants = inputs.split("=")[0]
    ROWS.append((name, code, inputs, variants, tuple(shapes)))


# Rows whose gradient by convention is that of a symmetric input, or that of what a log-softmax
# made: differences of results do not show it.
NO_DIFFERENCES = {"cholesky", "ctc_loss", "eigvalsh (upper)", "eigh", "eigh (product)"}

X = "x=3,4"
XY = "x=3,4 y=3,4"
U = "x=u:3,4"
ONE = ("x=.", "x=0", "x=2,0,3", "x=2,3,2")
ONE_U = ("x=u:.", "x=u:0,2", "x=u:2,3,2")
TWO = ("x=. y=.", "x=2,3 y=.", "x=. y=3", "x=2,1,3 y=2,1", "x=0,3 y=1,3", "x=2,3 y=2")
TWO_U = ("x=. y=u:.", "x=2,3 y=u:.", "x=2,1,3 y=u:2,1", "x=0,3 y=u:1,3")

# Pointwise arithmetic
row("add", "torch.add(x, y)", XY, "x+y x", TWO + ("x=3,4 y=3,4/float64", "x=3,4 y=i5:3,4"))
row("add (alpha)", "torch.add(x, y, alpha=2)", XY, "x+y", TWO[:2])
row("add (number)", "x + 2.0", X, "x", ONE)
row("add (broadcast)", "torch.add(x, y)", "x=3,4 y=4", "x+y")
row("add (in place)", "x.add_(y)", XY, "x+y y", ("x=2,3 y=3", "x=3 y=2,3"))
row("iadd", "x += y", XY, "x+y")
row("sub", "torch.sub(x, y)", XY, "x+y", TWO)
row("rsub", "1.0 - x", X, "x", ONE)
row("mul", "torch.mul(x, y)", XY, "x+y x y", TWO)
row("mul (number)", "x * 2.0", X, "x", ONE)
row("mul (integer)", "x * 2", X, "x")
row("mul (number first)", "3.0 * x", X)
row("mul (0-dim)", "torch.mul(x, y)", "x=3,4 y=.", "x+y x")
row("mul (in place)", "x.mul_(y)", XY, "x+y x")
row("mul (in place, number)", "x.mul_(2.0)", X)
row("div", "torch.div(x, y)", "x=3,4 y=u:3,4", "x+y x y", TWO_U)
row("div (number)", "x / 2.0", X, "x", ONE)
row("rdiv", "1.0 / x", U, "x", ONE_U)
row("neg", "-x", X, "x", ONE)
row("abs", "torch.abs(x)", X, "x", ONE)
row("exp", "torch.exp(x)", X, "x", ONE)
row("expm1", "torch.expm1(x)", X, "x", ONE)
row("log", "torch.log(x)", U, "x", ONE_U)
row("log1p", "torch.log1p(x)", U, "x", ONE_U)
row("log2", "torch.log2(x)", U, "x", ONE_U)
row("log10", "torch.log10(x)", U, "x", ONE_U)
row("sqrt", "torch.sqrt(x)", U, "x", ONE_U)
row("rsqrt", "torch.rsqrt(x)", U, "x", ONE_U)
row("square", "torch.square(x)", X, "x", ONE)
row("pow 2", "x ** 2", X, "x", ONE)
row("pow 3", "x ** 3", X)
row("pow 0.5", "x ** 0.5", U)
row("pow (tensor exponent)", "torch.pow(x, y)", "x=u:3,4 y=3,4", "x+y x",
    ("x=u:2,3 y=3", "x=u:. y=."))
row("pow (number base)", "2.0 ** x", X, "x", ONE)
row("sin", "torch.sin(x)", X, "x", ONE)
row("cos", "torch.cos(x)", X, "x", ONE)
row("tan", "torch.tan(x)", X)
row("atan", "torch.atan(x)", X)
row("sinh", "torch.sinh(x)", X)
row("cosh", "torch.cosh(x)", X)
row("erf", "torch.erf(x)", X, "x", ONE)
row("sign", "torch.sign(x)", X, "x", ONE)
row("round", "torch.round(x)", X)
row("floor", "torch.floor(x)", X, "x", ONE)
row("ceil", "torch.ceil(x)", X)
row("trunc", "torch.trunc(x)", X)
row("reciprocal", "torch.reciprocal(x)", U, "x", ONE_U)
row("exp (in place)", "x.exp_()", X)
row("maximum", "torch.maximum(x, y)", XY, "x+y x", TWO)
row("minimum", "torch.minimum(x, y)", XY, "x+y", TWO)
row("clamp", "x.clamp(-1, 1)", X, "x", ONE)
row("clamp (min)", "x.clamp(min=0)", X, "x", ONE)
row("clamp (tensors)", "torch.clamp(x, low, high)", "x=3,4 low=3,4 high=3,4", "x x+low")
row("where", "torch.where(c, x, y)", "c=bool:3,4 x=3,4 y=3,4", "x+y x",
    ("c=bool:2,3 x=3 y=2,1", "c=bool:. x=. y=2", "c=bool:0 x=0 y=1"))
row("where (numbers)", "torch.where(c, x, 0.0)", "c=bool:3,4 x=3,4", "x")
row("masked_fill", "x.masked_fill(m, 0.0)", "x=3,4 m=bool:3,4", "x", ("x=2,3,4 m=bool:3,1",))
row("masked_fill (tensor)", "x.masked_fill(m, v)", "x=3,4 m=bool:3,4 v=.", "x x+v")
row("masked_fill (in place)", "x.masked_fill_(m, -1.0)", "x=3,4 m=bool:3,4", "x")
row("lerp", "torch.lerp(x, y, 0.3)", XY, "x+y")
row("addcmul", "torch.addcmul(x, a, b)", "x=3,4 a=3,4 b=3,4", "x+a+b x a",
    ("x=3,4 a=4 b=3,1",))
row("addcdiv", "torch.addcdiv(x, a, b)", "x=3,4 a=3,4 b=u:3,4", "x+a+b a")
row("fmod", "torch.fmod(x, 2.0)", X)
row("remainder", "x % 2.0", X)
row("nan_to_num", "torch.nan_to_num(x)", X)
row("logaddexp", "torch.logaddexp(x, y)", XY, "x+y")
row("atan2", "torch.atan2(x, y)", XY, "x+y")

# Activations
row("relu", "torch.relu(x)", X, "x", ONE)
row("F.relu", "F.relu(x)", X)
row("relu (in place)", "torch.relu_(x)", X)
row("leaky_relu (in place)", "F.leaky_relu_(x, 0.1)", X)
row("elu (in place)", "F.elu_(x)", X)
row("sigmoid (in place)", "x.sigmoid_()", X)
row("tanh (in place)", "x.tanh_()", X)
row("rrelu", "F.rrelu(x)", X, "x", ONE)
row("rrelu (training)", "F.rrelu(x, 0.1, 0.4, True)", X, "x", ONE)
row("rrelu (in place)", "F.rrelu_(x)", X)
row("rrelu (in place, training)", "F.rrelu_(x, training=True)", X)
row("relu6", "F.relu6(x)", X)
row("leaky_relu", "F.leaky_relu(x, 0.1)", X, "x", ONE)
row("elu", "F.elu(x)", X, "x", ONE)
row("celu", "F.celu(x)", X)
row("selu", "F.selu(x)", X)
row("prelu", "F.prelu(x, w)", "x=3,4 w=quarter:1", "x+w x", ("x=2,3,4 w=quarter:3",))
row("gelu", "F.gelu(x)", X, "x", ONE)
row("gelu (tanh)", "F.gelu(x, approximate='tanh')", X, "x", ONE)
row("silu", "F.silu(x)", X, "x", ONE)
row("mish", "F.mish(x)", X)
row("hardswish", "F.hardswish(x)", X)
row("hardsigmoid", "F.hardsigmoid(x)", X)
row("hardtanh", "F.hardtanh(x)", X)
row("softplus", "F.softplus(x)", X, "x", ONE)
row("softsign", "F.softsign(x)", X)
row("tanhshrink", "F.tanhshrink(x)", X)
row("softshrink", "F.softshrink(x)", X)
row("hardshrink", "F.hardshrink(x)", X)
row("threshold", "F.threshold(x, 0.1, 20.0)", X)
row("sigmoid", "torch.sigmoid(x)", X, "x", ONE)
row("logsigmoid", "F.logsigmoid(x)", X, "x", ONE)
row("tanh", "torch.tanh(x)", X, "x", ONE)
row("glu", "F.glu(x, dim=-1)", X, "x", ("x=2,4,3", "x=2,3,0,2"))
row("softmax", "F.softmax(x, dim=-1)", X, "x", ONE)
row("softmax (dim 0)", "torch.softmax(x, 0)", X, "x", ONE)
row("log_softmax", "F.log_softmax(x, dim=-1)", X, "x", ONE)
row("softmax (cast)", "F.softmax(x, dim=-1, dtype=torch.float64)", X)
row("dropout", "F.dropout(x, 0.5, True)", X, "x", ("x=.", "x=0", "x=5,9"))
row("dropout (eval)", "F.dropout(x, 0.5, False)", X)
row("dropout (p=0)", "F.dropout(x, 0.0, True)", X)
row("dropout (p=1)", "F.dropout(x, 1.0, True)", X)
row("dropout2d", "F.dropout2d(x, 0.5, True)", "x=2,3,4,4")

# Matrix products
AB = "a=3,4 b=4,5"
row("mm", "torch.mm(a, b)", AB, "a+b a b", ("a=0,4 b=4,5", "a=3,0 b=0,2", "a=3,4 b=3,5"))
row("matmul 2d 2d", "torch.matmul(a, b)", AB, "a+b")
row("matmul 3d 2d", "torch.matmul(a, b)", "a=2,3,4 b=4,5", "a+b a")
row("matmul 3d 3d", "torch.matmul(a, b)", "a=2,3,4 b=2,4,5", "a+b", ("a=2,3,4 b=2,3,5",))
row("matmul 4d 4d", "torch.matmul(a, b)", "a=2,2,3,4 b=2,2,4,5", "a+b")
row("matmul 4d 4d transposed", "a @ b.transpose(-1, -2)", "a=2,2,3,4 b=2,2,5,4", "a+b")
row("matmul (broadcast)", "torch.matmul(a, b)", "a=2,3,4 b=1,4,5", "a+b",
    ("a=1,3,4 b=2,4,5", "a=2,1,3,4 b=3,4,2", "a=3,4 b=2,4,5", "a=4 b=2,4,5", "a=2,3,4 b=4"))
row("matmul 2d 1d", "torch.matmul(a, b)", "a=3,4 b=4", "a+b a")
row("matmul 1d 1d", "torch.matmul(a, b)", "a=4 b=4", "a+b", ("a=0 b=0", "a=4 b=3", "a=. b=4"))
row("matmul 1d 2d", "torch.matmul(a, b)", "a=4 b=4,5", "a+b")
row("bmm", "torch.bmm(a, b)", "a=2,3,4 b=2,4,5", "a+b a", ("a=0,3,4 b=0,4,5",))
row("baddbmm", "torch.baddbmm(c, a, b)", "c=2,3,5 a=2,3,4 b=2,4,5", "c+a+b")
row("addmm", "torch.addmm(c, a, b)", "c=5 a=3,4 b=4,5", "c+a+b a b c", ("c=3,5 a=3,4 b=4,5",))
row("mv", "torch.mv(a, b)", "a=3,4 b=4", "a+b")
row("dot", "torch.dot(a, b)", "a=4 b=4", "a+b", ("a=0 b=0",))
row("outer", "torch.outer(a, b)", "a=3 b=4", "a+b")
row("linear 2d", "F.linear(x, w, b)", "x=3,4 w=5,4 b=5", "x+w+b w+b x",
    ("x=0,4 w=5,4 b=5", "x=3,4 w=5,3 b=5"))
row("linear 2d, no bias", "F.linear(x, w)", "x=3,4 w=5,4", "x+w w")
row("linear 3d", "F.linear(x, w, b)", "x=2,3,4 w=5,4 b=5", "x+w+b w+b")
row("linear 3d, no bias", "F.linear(x, w)", "x=2,3,4 w=5,4", "x+w")
row("linear 1d", "F.linear(x, w, b)", "x=4 w=5,4 b=5", "x+w+b")
row("bilinear", "F.bilinear(x, y, w, b)", "x=3,4 y=3,5 w=2,4,5 b=2", "x+y+w+b")
row("einsum ij,jk->ik", "torch.einsum('ij,jk->ik', a, b)", AB, "a+b")
row("einsum bij,bkj->bik", "torch.einsum('bij,bkj->bik', a, b)", "a=2,3,4 b=2,5,4", "a+b")
row("einsum ij->i", "torch.einsum('ij->i', a)", "a=3,4", "a")
row("einsum ij,ij->", "torch.einsum('ij,ij->', a, b)", "a=3,4 b=3,4", "a+b")
row("cdist", "torch.cdist(a, b)", "a=3,4 b=5,4", "a+b")
row("cosine_similarity", "F.cosine_similarity(a, b)", "a=3,4 b=3,4", "a+b")
row("normalize", "F.normalize(x)", X)

# Losses
row("mse_loss", "F.mse_loss(x, y)", XY, "x x+y", ("x=. y=.", "x=2,3,2 y=2,3,2", "x=3,4 y=4"))
row("mse_loss (sum)", "F.mse_loss(x, y, reduction='sum')", XY, "x")
row("mse_loss (none)", "F.mse_loss(x, y, reduction='none')", XY, "x")
row("l1_loss", "F.l1_loss(x, y)", XY, "x x+y")
row("l1_loss (none)", "F.l1_loss(x, y, reduction='none')", XY, "x")
row("smooth_l1_loss", "F.smooth_l1_loss(x, y)", XY, "x x+y")
row("huber_loss", "F.huber_loss(x, y)", XY, "x")
row("nll_loss", "F.nll_loss(x, t)", "x=3,4 t=i4:3", "x")
row("nll_loss (none)", "F.nll_loss(x, t, reduction='none')", "x=3,4 t=i4:3", "x")
row("nll_loss (weight)", "F.nll_loss(x, t, w)", "x=3,4 t=i4:3 w=u:4", "x")
row("nll_loss (2d)", "F.nll_loss(x, t)", "x=2,4,3,3 t=i4:2,3,3", "x")
row("cross_entropy", "F.cross_entropy(x, t)", "x=3,4 t=i4:3", "x", ("x=4 t=i4:.",))
row("cross_entropy (none)", "F.cross_entropy(x, t, reduction='none')", "x=3,4 t=i4:3", "x")
row("cross_entropy (ignore_index)", "F.cross_entropy(x, t, ignore_index=1)", "x=6,3 t=i3:6", "x")
row("cross_entropy (smoothing)", "F.cross_entropy(x, t, label_smoothing=0.1)", "x=3,4 t=i4:3",
    "x")
row("cross_entropy (probabilities)", "F.cross_entropy(x, t)", "x=3,4 t=u:3,4", "x")
row("cross_entropy (3d)", "F.cross_entropy(x, t)", "x=2,4,5 t=i4:2,5", "x")
row("binary_cross_entropy", "F.binary_cross_entropy(x, y)", "x=u:3,4 y=u:3,4", "x x+y")
row("bce_with_logits", "F.binary_cross_entropy_with_logits(x, y)", "x=3,4 y=u:3,4", "x x+y")
row("bce_with_logits (none)", "F.binary_cross_entropy_with_logits(x, y, reduction='none')",
    "x=3,4 y=u:3,4", "x")
row("bce_with_logits (pos_weight)", "F.binary_cross_entropy_with_logits(x, y, pos_weight=w)",
    "x=3,4 y=u:3,4 w=u:4", "x")
row("kl_div", "F.kl_div(x, y, reduction='batchmean')", "x=3,4 y=u:3,4", "x")
row("kl_div (log_target)", "F.kl_div(x, y, reduction='sum', log_target=True)", XY, "x")
row("hinge_embedding_loss", "F.hinge_embedding_loss(x, y)", "x=3,4 y=ones:3,4", "x")
row("margin_ranking_loss", "F.margin_ranking_loss(a, b, y)", "a=4 b=4 y=ones:4", "a+b")
row("cosine_embedding_loss", "F.cosine_embedding_loss(a, b, y)", "a=3,4 b=3,4 y=ones:3", "a+b")
row("triplet_margin_loss", "F.triplet_margin_loss(a, p, n)", "a=3,4 p=3,4 n=3,4", "a+p+n")
row("gaussian_nll_loss", "F.gaussian_nll_loss(x, y, v)", "x=3,4 y=3,4 v=u:3,4", "x+v")
row("poisson_nll_loss", "F.poisson_nll_loss(x, y)", "x=3,4 y=u:3,4", "x")
row("soft_margin_loss", "F.soft_margin_loss(x, y)", "x=3,4 y=ones:3,4", "x")
row("ctc_loss", "F.ctc_loss(x, torch.tensor([[1, 2], [2, 1]]), (5, 5), (2, 2))", "x=5,2,4", "x")

# Convolution, pooling, resampling
row("conv1d", "F.conv1d(x, w, b)", "x=2,3,8 w=4,3,3 b=4", "x+w+b w+b")
row("conv1d (stride, padding, dilation)", "F.conv1d(x, w, b, 2, 2, 2)", "x=2,3,9 w=4,3,3 b=4",
    "x+w+b")
row("conv2d", "F.conv2d(x, w, b)", "x=2,3,5,5 w=4,3,3,3 b=4", "x+w+b w+b x")
row("conv2d (no bias)", "F.conv2d(x, w)", "x=2,3,5,5 w=2,3,3,3", "x+w")
row("conv2d (stride 2, padding 1)", "F.conv2d(x, w, stride=2, padding=1)",
    "x=1,2,6,6 w=2,2,3,3", "x+w")
row("conv2d (depthwise)", "F.conv2d(x, w, groups=3)", "x=2,3,5,5 w=3,1,3,3", "x+w")
row("conv2d (1x1)", "F.conv2d(x, w)", "x=2,3,4,4 w=4,3,1,1", "x+w")
row("conv2d (same)", "F.conv2d(x, w, padding='same')", "x=1,3,4,4 w=2,3,3,3", "x+w")
row("conv2d (no batch)", "F.conv2d(x, w)", "x=3,5,5 w=2,3,3,3", "x+w")
row("conv3d", "F.conv3d(x, w)", "x=1,2,4,4,4 w=3,2,3,3,3", "x+w")
row("conv_transpose1d", "F.conv_transpose1d(x, w)", "x=2,3,8 w=3,4,3", "x+w")
row("conv_transpose2d", "F.conv_transpose2d(x, w, b)", "x=2,3,3,3 w=3,4,3,3 b=4", "x+w+b")
row("conv_transpose2d (stride)", "F.conv_transpose2d(x, w, None, 2, 1, 1)",
    "x=1,2,3,3 w=2,3,3,3", "x+w")
row("max_pool1d", "F.max_pool1d(x, 2)", "x=2,3,8")
row("max_pool2d", "F.max_pool2d(x, 2)", "x=2,3,6,6")
row("max_pool2d (stride, padding)", "F.max_pool2d(x, 3, 2, 1)", "x=2,3,6,6")
row("avg_pool1d", "F.avg_pool1d(x, 2)", "x=2,3,8")
row("avg_pool2d", "F.avg_pool2d(x, 2)", "x=2,3,6,6")
row("avg_pool2d (padding)", "F.avg_pool2d(x, 3, 2, 1)", "x=2,3,6,6")
row("adaptive_avg_pool2d (1)", "F.adaptive_avg_pool2d(x, 1)", "x=2,3,6,6")
row("adaptive_avg_pool2d (2)", "F.adaptive_avg_pool2d(x, 2)", "x=2,3,5,6")
row("adaptive_avg_pool1d", "F.adaptive_avg_pool1d(x, 2)", "x=2,3,8")
row("adaptive_max_pool2d", "F.adaptive_max_pool2d(x, 2)", "x=2,3,6,6")
row("interpolate (nearest)", "F.interpolate(x, scale_factor=2)", "x=1,2,3,3")
row("interpolate (bilinear)",
    "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)", "x=1,2,3,3")
row("interpolate (size)", "F.interpolate(x, size=(4, 5), mode='bilinear', align_corners=True)",
    "x=1,2,3,3")
row("pad", "F.pad(x, (1, 1))", X, "x", ("x=2,3,2",))
row("pad (negative)", "F.pad(x, (-1, 2, 1, 0), value=0.5)", X)
row("pad (reflect)", "F.pad(x, (1, 1), mode='reflect')", X)
row("pad (replicate)", "F.pad(x, (1, 1), mode='replicate')", "x=2,3,4")
row("unfold (im2col)", "F.unfold(x, 3)", "x=1,2,5,5")
row("fold", "F.fold(x, (4, 4), 2)", "x=1,8,9")
row("pixel_shuffle", "F.pixel_shuffle(x, 2)", "x=2,4,3,3")

# Normalisation
BN = "x=6,3 w=u:3 b=3 m=3 v=u:3"
row("batch_norm (train)", "F.batch_norm(x, m, v, w, b, True)", BN, "x+w+b x")
row("batch_norm (eval)", "F.batch_norm(x, m, v, w, b, False)", BN, "x+w+b")
row("batch_norm (train, 4d)", "F.batch_norm(x, m, v, w, b, True)",
    "x=2,3,4,4 w=u:3 b=3 m=3 v=u:3", "x+w+b")
row("batch_norm (no affine, no statistics)", "F.batch_norm(x, None, None, training=True)",
    "x=6,3")
row("layer_norm", "F.layer_norm(x, (4,), w, b)", "x=2,3,4 w=u:4 b=4", "x+w+b x",
    ("x=2,3,4 w=u:4/float64 b=4/float64", "x=2,3,4/float64 w=u:4 b=4"))
row("layer_norm (no affine)", "F.layer_norm(x, (4,))", "x=2,3,4")
row("layer_norm (two dimensions)", "F.layer_norm(x, (3, 4))", "x=2,3,4")
row("group_norm", "F.group_norm(x, 2, w, b)", "x=2,4,5 w=u:4 b=4", "x+w+b")
row("layer_norm of half", "F.layer_norm(x.half(), (4,), w, b)", "x=2,3,4 w=u:4 b=4", "x+w+b")
row("group_norm of half", "F.group_norm(x.half(), 2, w, b)", "x=2,4,5 w=u:4 b=4", "x+w+b")
row("rms_norm of half", "F.rms_norm(x.half(), (4,), w.half())", "x=2,3,4 w=u:4", "x+w")
row("batch_norm of half", "F.batch_norm(x.half(), None, None, w, b, True)",
    "x=4,3,5 w=u:3 b=3", "x+w+b")
row("instance_norm", "F.instance_norm(x)", "x=2,3,4,4")
row("rms_norm", "F.rms_norm(x, (4,), w)", "x=2,3,4 w=u:4", "x+w")
row("rms_norm by hand", "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w",
    "x=2,3,4 w=u:4", "x+w")

# Embedding
row("embedding", "F.embedding(t, w)", "t=i10:2,5 w=10,4", "w", ("t=i10:. w=10,4",))
row("embedding (padding_idx)", "F.embedding(t, w, padding_idx=0)", "t=i10:2,5 w=10,4", "w")
row("embedding_bag (mean)", "F.embedding_bag(t, w)", "t=i10:2,5 w=10,4", "w")
row("one_hot", "F.one_hot(t, 10)", "t=i10:5", "none")

# Recurrent
CELL = "x=3,4 h=3,5 w=20,4 u=20,5 b=20 c=20"
row("lstm_cell", "torch.lstm_cell(x, (h, h), w, u, b, c)", CELL, "x+h+w+u+b+c w+u+b+c")
row("gru_cell", "torch.gru_cell(x, h, w, u, b, c)", "x=3,4 h=3,5 w=15,4 u=15,5 b=15 c=15",
    "x+h+w+u+b+c")
row("rnn_tanh_cell", "torch.rnn_tanh_cell(x, h, w, u, b, c)", "x=3,4 h=3,5 w=5,4 u=5,5 b=5 c=5",
    "x+h+w+u+b+c")
ARGS = "[w, u, b, c], True, 1, 0.0, True, False, False"
row("lstm", "h = torch.zeros(1, 3, 5)\nz = torch.zeros(1, 3, 5)\n"
    "first(torch.lstm(x, [h, z], %s))" % ARGS, "x=6,3,4 w=20,4 u=20,5 b=20 c=20", "x+w+u+b+c")
row("gru", "h = torch.zeros(1, 3, 5)\nfirst(torch.gru(x, h, %s))" % ARGS,
    "x=6,3,4 w=15,4 u=15,5 b=15 c=15", "x+w+u+b+c")
row("rnn_tanh", "h = torch.zeros(1, 3, 5)\nfirst(torch.rnn_tanh(x, h, %s))" % ARGS,
    "x=6,3,4 w=5,4 u=5,5 b=5 c=5", "x+w+u+b+c")

# Attention
QKV = "q=2,2,5,4 k=2,2,5,4 v=2,2,5,4"
row("scaled_dot_product_attention", "F.scaled_dot_product_attention(q, k, v)", QKV, "q+k+v")
row("scaled_dot_product_attention (causal)",
    "F.scaled_dot_product_attention(q, k, v, is_causal=True)", QKV, "q+k+v")
row("attention by hand", "(q @ k.transpose(-1, -2) / 2.0).softmax(-1) @ v", QKV, "q+k+v")
row("MultiheadAttention", "first(nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x))",
    "x=2,5,4")
row("MultiheadAttention (no weights)",
    "first(nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x, need_weights=False))",
    "x=2,5,4")

# Shape: views
row("view", "x.view(12)", X, "x", ("x=0,12", "x=5"))
row("view (-1)", "x.view(2, -1)", X, "x", ("x=2,3,2", "x=3"))
row("reshape", "x.reshape(2, 6)", X)
row("reshape (copies)", "x.t().reshape(12)", X)
row("flatten", "x.flatten(1)", "x=2,3,4", "x", ("x=2,0,3", "x=3"))
row("transpose", "x.transpose(0, 1)", X, "x", ("x=2,3,4", "x=3"))
row("t", "x.t()", X, "x", ("x=3", "x=2,3,4"))
row("permute", "x.permute(2, 0, 1)", "x=2,3,4", "x", ("x=2,3",))
row("squeeze (dim)", "x.squeeze(1)", "x=3,1,4", "x", ("x=3,2",))
row("squeeze", "x.squeeze()", "x=3,1,4")
row("unsqueeze", "x.unsqueeze(1)", X, "x", ("x=.", "x=3"))
row("expand", "x.expand(3, 4)", "x=1,4", "x", ("x=4", "x=.", "x=2,4"))
row("select", "x[0]", X, "x", ("x=3", "x=0,2", "x=."))
row("select (negative)", "x[-1, 1]", X)
row("slice", "x[:2]", X, "x", ("x=5", "x=1,3"))
row("slice (step)", "x[:, 1::2]", X)
row("new axis, ellipsis", "x[None, ..., 0]", X)
row("narrow", "x.narrow(0, 0, 2)", X)
row("diagonal", "torch.diagonal(x)", X)
row("split", "x.split(1, 0)", X)
row("split (sizes)", "x.split([1, 3], 1)", X)
row("chunk", "x.chunk(2, 1)", X, "x", ("x=2,5",))
row("unbind", "x.unbind(0)", X)
row("detach", "x.detach()", X)
row("view_as", "x.view_as(y)", "x=3,4 y=12", "x")
row("Tensor.unfold", "x.unfold(1, 2, 1)", X)
row("movedim", "torch.movedim(x, 0, 2)", "x=2,3,4")
row("unflatten", "x.unflatten(1, (2, 2))", X)

# Shape: copies
row("clone", "torch.clone(x)", X)
row("contiguous", "x.contiguous()", X)
row("contiguous (copies)", "x.t().contiguous()", X)
row("cat", "torch.cat([x, y])", XY, "x+y x", ("x=2,3 y=0,3", "x=2,3 y=4,3", "x=2,3 y=2,4"))
row("cat (dim)", "torch.cat([x, y], dim=1)", "x=3,4 y=3,2", "x+y")
row("stack", "torch.stack([x, y])", XY, "x+y", ("x=. y=.", "x=3 y=4"))
row("stack (dim)", "torch.stack([x, y], dim=1)", XY, "x+y")
row("repeat", "x.repeat(2, 1)", X, "x", ("x=3",))
row("repeat_interleave", "x.repeat_interleave(2, 0)", X)
row("tile", "x.tile(2, 1)", X)
row("flip", "x.flip(0)", X)
row("roll", "x.roll(1, 0)", X)
row("tril", "torch.tril(x)", X)
row("triu", "torch.triu(x, 1)", X)
row("meshgrid", "torch.meshgrid(x, y, indexing='ij')", "x=3 y=4", "x+y")

# Indexing
row("index", "x[i]", "x=3,4 i=i3:2", "x", ("x=3,4 i=i3:2,2", "x=3 i=i3:0"))
row("index (mask)", "x[m]", "x=3,4 m=bool:3,4", "x", ("x=3,4 m=bool:3",))
row("index (two)", "x[i, j]", "x=3,4 i=i3:2 j=i4:2", "x", ("x=3,4,2 i=i3:2,1 j=i4:3",))
row("index (slice and tensor)", "x[:, i]", "x=3,4 i=i4:2", "x")
row("index (list)", "x[[0, 2]]", X)
row("setitem (int)", "x[0] = y\nx", "x=3,4 y=4", "x+y y")
row("setitem (mask)", "x[m] = 0.0\nx", "x=3,4 m=bool:3,4", "x")
row("setitem (index)", "x[i] = y\nx", "x=5,4 i=i2:1 y=1,4", "x+y")
row("setitem (slice)", "x[1:, :2] = y\nx", "x=3,4 y=2,2", "x+y")
row("select in place", "x[0].mul_(y)\nx", "x=3,4 y=4", "x+y")
row("masked_select", "torch.masked_select(x, m)", "x=3,4 m=bool:3,4", "x")
row("index_select", "x.index_select(0, i)", "x=3,4 i=i3:2", "x")
row("gather", "x.gather(1, i)", "x=3,4 i=i4:3,1", "x")
row("take", "torch.take(x, i)", "x=3,4 i=i12:5", "x")
row("scatter", "x.scatter(1, i, s)", "x=3,4 i=i4:3,1 s=3,1", "x+s x s")
row("scatter_add", "x.scatter_add(1, i, s)", "x=3,4 i=i4:3,1 s=3,1", "x+s s")
for how in ("sum", "mean", "prod", "amax", "amin"):
    row("scatter_reduce (%s)" % how, "x.scatter_reduce(1, i, s, '%s')" % how, "x=3,4 i=i4:3,2 s=3,2", "x+s s x")
    row("scatter_reduce (%s, alone)" % how, "x.scatter_reduce(0, i, s, '%s', include_self=False)" % how,
        "x=3,4 i=i3:2,4 s=2,4", "x+s")
row("index_add", "x.index_add(0, i, s)", "x=3,4 i=i3:2 s=2,4", "x+s")
row("index_put (accumulate)", "x.index_put((i,), s, accumulate=True)", "x=3,4 i=i3:2 s=2,4",
    "x+s")
row("index_fill", "x.index_fill(0, i, 0.5)", "x=3,4 i=i3:2", "x")

# Reductions, ordering
RED = ("x=.", "x=0", "x=2,3,2")
row("sum", "torch.sum(x)", X, "x", RED)
row("sum (dim)", "x.sum(1)", X, "x", ("x=2,0", "x=0,2", "x=2,3,2", "x=3"))
row("sum (dims, keepdim)", "x.sum((0, 2), keepdim=True)", "x=2,3,2")
row("sum (integers)", "torch.sum(x)", "x=i9:3,4", "none")
row("mean", "torch.mean(x)", X, "x", RED)
row("mean (dim)", "x.mean(1, keepdim=True)", X, "x", ("x=2,3,2", "x=3"))
row("prod", "torch.prod(x)", X, "x", ("x=.", "x=0"))
row("prod (dim)", "x.prod(1)", X)
row("max", "torch.max(x)", X, "x", ("x=.", "x=0"))
row("max (dim)", "x.max(1).values", X, "x", ("x=2,3,2", "x=0,3"))
row("max (dim, both)", "x.max(1)", X)
row("amax", "x.amax(1)", X)
row("amin", "x.amin(1)", X)
row("min", "torch.min(x)", X)
row("min (dim)", "x.min(1).values", X)
row("median", "torch.median(x)", X)
row("median (dim)", "x.median(1).values", X)
row("cummax", "x.cummax(1).values", X)
row("logsumexp", "torch.logsumexp(x, 1)", X, "x", ("x=2,3,2",))
row("var", "torch.var(x)", X)
row("var (dim)", "x.var(1)", X)
row("var (unbiased=False)", "x.var(1, unbiased=False)", X)
row("std", "torch.std(x)", X)
row("std (dim)", "x.std(1)", X)
row("norm", "x.norm()", X)
row("norm (dim)", "x.norm(dim=1)", X)
row("norm (p=1)", "x.norm(p=1)", X)
row("linalg.norm", "torch.linalg.norm(x)", X)
row("cumsum", "x.cumsum(1)", X, "x", ("x=2,0", "x=.", "x=2,3,2"))
row("cumprod", "x.cumprod(1)", X)
row("sort", "x.sort(1).values", X, "x", ("x=2,5,2",))
row("sort (descending)", "x.sort(1, descending=True)", X)
row("topk", "x.topk(2, 1).values", X)
row("topk (both)", "x.topk(2, 1)", X)
row("kthvalue", "x.kthvalue(2, 1).values", X)
row("diff", "torch.diff(x)", X)
row("dist", "torch.dist(x, y)", XY, "x+y")
row("argmax", "x.argmax(1)", X)
row("argmax (all)", "x.argmax()", X)
row("argsort", "x.argsort(1)", X)
row("eq", "x == y", XY, "x+y", TWO)
row("gt (number)", "x > 0", X)
row("isnan", "torch.isnan(x)", X)
row("any", "(x > 0).any()", X)
row("all (dim)", "(x > 0).all(1)", X)
row("bincount", "torch.bincount(x)", "x=i5:8", "none")
row("multinomial", "torch.multinomial(x, 2)", U)
row("bernoulli", "torch.bernoulli(x)", U)
row("nonzero", "torch.nonzero(x)", "x=i2:3,4", "none")
row("unique", "torch.unique(x)", "x=i3:8", "none")
row("unique (all)", "torch.unique(x, return_inverse=True, return_counts=True)", "x=i3:3,4", "none")
row("unique (dim)", "torch.unique(x, dim=0)", "x=i2:6,2", "none", ("x=i2:6,1,2",))
row("unique (dim, all)", "torch.unique(x, return_inverse=True, return_counts=True, dim=1)", "x=i2:2,7", "none")
row("unique (inner dim)", "torch.unique(x, dim=2)", "x=i2:2,2,9", "none")
row("amp: unscale", "torch._amp_foreach_non_finite_check_and_unscale_([x, y], f, s)\n[x, y, f]",
    "x=3,4 y=5 f=i1:1/float32 s=u:1", "none")
row("amp: unscale (not finite)",
    "z = x / 0.0\ntorch._amp_foreach_non_finite_check_and_unscale_([y, z], f, s)\n[y, z.isnan(), f]",
    "x=2 y=5 f=i1:1/float32 s=u:1", "none")
row("amp: update scale (grows)",
    "torch._amp_update_scale_(s, g, f, 2.0, 0.5, 2)\n[torch._amp_update_scale_(s, g, f, 2.0, 0.5, 2), g]",
    "s=u:1 g=i1:1/int32 f=i1:1/float32", "none")
row("amp: update scale (shrinks)", "[torch._amp_update_scale_(s, g, f, 2.0, 0.5, 2), g]",
    "s=u:1 g=i1:1/int32 f=u:1", "none")
row("pack_padded", "n = torch.tensor([4, 3, 1])\ntorch._VF._pack_padded_sequence(x, n, True)", "x=3,4,2")
row("pack_padded (times first)", "n = torch.tensor([4, 2, 2])\ntorch._VF._pack_padded_sequence(x, n, False)", "x=4,3,2")
row("count_nonzero", "torch.count_nonzero(x)", "x=i2:3,4", "none")
row("logical_and", "torch.logical_and(x, y)", "x=bool:3,4 y=i2:3,4", "none")
row("isclose", "torch.isclose(x, y)", XY, "x")
row("softmax of a transpose", "x.t().softmax(0)", X)
row("cross", "torch.linalg.cross(x, y)", "x=2,3 y=2,3", "x+y")

# dtype, device
row("to float64", "x.to(torch.float64)", X)
row("double", "x.double()", X)
row("half", "x.half()", X)
row("bfloat16", "x.bfloat16()", X)
row("float (already)", "x.float()", X)
row("cpu (already)", "x.cpu()", X)
row("to int64", "x.to(torch.int64)", X)
row("integers to float", "x.float()", "x=i5:3,4", "none")
row("float32 * float64", "torch.mul(x, y)", "x=3,4 y=3,4/float64", "x+y")
row("float32 * 0-dim float64", "torch.mul(x, y)", "x=3,4 y=./float64", "x+y")
row("integer * float", "torch.mul(x, y)", "x=i5:3,4 y=3,4", "y")
row("integer / integer", "torch.div(x, y)", "x=i5:3,4 y=ones:3,4/int64", "none")
row("bool * float", "torch.mul(m, y)", "m=bool:3,4 y=3,4", "y")
row("type_as", "x.type_as(y)", "x=3,4 y=2/float64", "x")

# Linear algebra
row("inv", "torch.linalg.inv(x)", "x=spd:3,3")
row("solve", "torch.linalg.solve(a, b)", "a=spd:3,3 b=3,2", "a+b")
row("det", "torch.linalg.det(x)", "x=spd:3,3")
row("cholesky", "torch.linalg.cholesky(x)", "x=spd:3,3")
row("svdvals", "torch.linalg.svdvals(x)", "x=3,4")
row("eigvalsh", "torch.linalg.eigvalsh(x @ x.mT)", "x=3,3", "x none", ("x=2,4,4",))
row("eigvalsh (upper)", "torch.linalg.eigvalsh(x, UPLO='U')", "x=3,3")
row("eigh", "torch.linalg.eigh(x).eigenvalues", "x=3,3")
row("eigh (product)", "v = torch.linalg.eigh(x).eigenvectors\n(v * v) @ v.mT.abs()", "x=3,3")
row("solve_triangular", "torch.linalg.solve_triangular(a + 3, b, upper=False)", "a=u:3,3 b=3,2", "a+b a b")
row("solve_triangular (batch)", "torch.linalg.solve_triangular(a + 3, b, upper=True)", "a=u:3,3 b=2,3,2", "a+b")
row("solve_triangular (right)", "torch.linalg.solve_triangular(a + 3, b, upper=True, left=False)",
    "a=u:2,3,3 b=4,3", "a+b")
row("solve_triangular (unit)",
    "torch.linalg.solve_triangular(a, b, upper=False, unitriangular=True)", "a=3,3 b=3,2", "a+b")
row("cholesky_solve", "torch.cholesky_solve(b, (a + 1).tril())", "b=3,2 a=u:3,3", "a+b a b")
row("cholesky_solve (upper)", "torch.cholesky_solve(b, (a + 1).triu(), upper=True)", "b=3,2 a=u:2,3,3", "a+b")
for order in ("'fro'", "'nuc'", "2", "-2", "1", "-1"):
    row("matrix_norm (%s)" % order, "torch.linalg.matrix_norm(x, %s)" % order, "x=2,3,4")
row("matrix_norm (dims)", "torch.linalg.matrix_norm(x, 1, (2, 0), keepdim=True)", "x=2,3,4")
row("matrix_norm (dims, nuclear)", "torch.linalg.matrix_norm(x, 'nuc', (1, 0), keepdim=True)", "x=2,3,4")
row("linalg.norm (2)", "torch.linalg.norm(x, 2)", X, "x", ("x=5",))
row("norm (nuclear)", "x.norm('nuc')", X)
row("kron", "torch.kron(x, y)", "x=2,3 y=3,2", "x+y x", ("x=3 y=2,2", "x=2,1,2 y=3"))
row("standard_gamma", "torch._standard_gamma(x)", U, "none x", ("x=u:40",))
row("sample_dirichlet", "torch._sample_dirichlet(x * 3)", U, "none", ("x=u:6,5",))
row("trace", "torch.trace(x)", "x=3,3")

# Factories: nothing requires grad, but shapes, dtypes and bytes are PyTorch's
row("zeros", "torch.zeros(2, 3)", X, "none")
row("ones (dtype)", "torch.ones((2, 3), dtype=torch.float64)", X, "none")
row("full", "torch.full((2, 3), 1.5)", X, "none")
row("full (integer)", "torch.full((2,), 3)", X, "none")
row("arange", "torch.arange(5)", X, "none")
row("arange (step)", "torch.arange(1, 2, 0.25)", X, "none")
row("linspace", "torch.linspace(0, 1, 5)", X, "none")
row("eye", "torch.eye(3)", X, "none")
row("zeros_like", "torch.zeros_like(x)", X, "x")
row("rand", "torch.rand(2, 3)", X, "none")
row("randn", "torch.randn(4, 5)", X, "none")
row("randint", "torch.randint(0, 10, (4,))", X, "none")
row("randperm", "torch.randperm(6)", X, "none")
row("rand_like", "torch.rand_like(x)", X, "x")
row("tensor", "torch.tensor([1.0, 2.0])", X, "none")
row("new_zeros", "x.new_zeros(2, 2)", X, "x")

# More pointwise
for name in ("exp2", "asinh", "erfc", "lgamma", "frac"):
    row(name, "torch.%s(x)" % name, X)
for name in ("digamma", "asin", "acos", "atanh", "logit"):
    row(name, "torch.%s(x)" % name, U)
row("acosh", "torch.acosh(x + 1.0)", U)
for name in ("isinf", "isfinite", "logical_not", "signbit"):
    row(name, "torch.%s(x)" % name, X)
for name in ("ne", "lt", "le", "ge", "logical_or", "logical_xor"):
    row(name, "torch.%s(x, y)" % name, XY, "x+y")
row("bitwise_not", "torch.bitwise_not(x)", "x=i9:3,4", "none")
for name in ("and", "or", "xor", "left_shift", "right_shift"):
    row("bitwise_" + name, "torch.bitwise_%s(x, y)" % name, "x=i9:3,4 y=i4:3,4", "none")
row("floor_divide", "x // 2", "x=i9:3,4", "none")
row("xlogy", "torch.xlogy(x, y)", "x=3,4 y=u:3,4", "x+y")
row("clamp_min", "torch.clamp_min(x, 0.1)", X)
row("clamp_max", "torch.clamp_max(x, 0.1)", X)
row("softmin", "F.softmin(x, dim=1)", X)
row("alpha_dropout", "F.alpha_dropout(x, 0.4, True)", X)
for p in (2, 1, 3, 0):
    row("pdist (%d)" % p, "torch.pdist(x, %d.0)" % p, "x=4,3", "x", ("x=5,2", "x=1,3", "x=3"))
row("multi_margin_loss", "F.multi_margin_loss(x, t)", "x=4,5 t=i5:4", "x", ("x=5 t=i5:.",))
row("multi_margin_loss (squared, weights, sum)",
    "F.multi_margin_loss(x, t, 2, 0.5, w, reduction='sum')", "x=4,5 t=i5:4 w=u:5", "x")
row("multi_margin_loss (none)", "F.multi_margin_loss(x, t, reduction='none')", "x=4,5 t=i5:4", "x",
    ("x=4,5 t=i9:4",))
for reduction in ("mean", "sum", "none"):
    row("multilabel_margin_loss (%s)" % reduction,
        "F.multilabel_margin_loss(x, t - 1, reduction='%s')" % reduction, "x=4,5 t=i6:4,5", "x", ("x=5 t=i6:5",))
row("pairwise_distance", "F.pairwise_distance(x, y)", XY, "x+y")
row("div (rounding)", "torch.div(x, y, rounding_mode='floor')", "x=3,4 y=u:3,4", "x+y")
row("sub (alpha)", "torch.sub(x, y, alpha=0.5)", XY, "x+y")
row("relu of 0-dim", "torch.relu(x)", "x=.", "x")

# More of shape
row("T", "x.T", X)
row("mT", "x.mT", "x=2,3,4")
row("reshape_as", "x.reshape_as(y)", "x=3,4 y=2,6", "x")
row("expand_as", "x.expand_as(y)", "x=1,4 y=3,4", "x")
row("as_strided", "torch.as_strided(x, (2, 2), (1, 2), 1)", X)
row("unsafe_chunk", "torch.unsafe_chunk(x, 2, 1)", X)
row("hstack", "torch.hstack([x, y])", XY, "x+y", ("x=3 y=2",))
row("vstack", "torch.vstack([x, y])", XY, "x+y", ("x=3 y=3",))
row("dstack", "torch.dstack([x, y])", XY, "x+y")
row("broadcast_to", "torch.broadcast_to(x, (3, 4))", "x=4")
row("broadcast_tensors", "torch.broadcast_tensors(x, y)", "x=3,1 y=4", "x+y")
row("flatten of a transpose", "x.t().flatten()", X)
row("view of a slice", "x[:, 1:3].reshape(6)", X)
row("permute, matmul", "x.permute(0, 2, 1) @ y", "x=2,4,3 y=2,4,5", "x+y")
row("expand, sum", "x.expand(5, 4).sum(0)", "x=1,4")
row("chain of views", "x[1:].t()[0].unsqueeze(0)", X)

# Copies and fills in place
row("copy_", "x.copy_(y)", XY, "x+y y", ("x=2,3 y=3",))
row("zero_", "x.zero_()", X)
row("fill_", "x.fill_(1.5)", X)
row("div_", "x.div_(y)", "x=3,4 y=u:3,4", "x+y")
row("sub_", "x.sub_(y)", XY, "x+y")
row("add_ (alpha)", "x.add_(y, alpha=-0.1)", XY, "x+y")
row("neg_", "x.neg_()", X)
row("clamp_", "x.clamp_(-0.5, 0.5)", X)
row("masked_fill_ of a view", "x[1:].masked_fill_(m, 0.5)\nx", "x=3,4 m=bool:2,4", "x")
row("add_ to a transpose", "x.t().add_(y)\nx", "x=3,4 y=4,3", "x+y")
row("setitem (ellipsis)", "x[..., 0] = y\nx", "x=3,4 y=3", "x+y")
row("index_copy", "torch.index_copy(x, 0, i, s)", "x=3,4 i=i1:1 s=1,4", "x+s")
for name in ("long", "int", "short", "char", "byte", "bool"):
    row(name, "x.%s()" % name, U)

# More reductions
row("argmin", "torch.argmin(x, 1)", X)
row("cummin", "torch.cummin(x, 1).values", X)
row("mode", "torch.mode(x, 1).values", "x=i3:4,7", "none")
row("equal elements", "torch.eq(x, x).all()", X)
row("std_mean", "torch.std_mean(x, 1)", X)
row("var_mean", "torch.var_mean(x, 1)", X)
row("nansum", "torch.nansum(x, 1)", X)
row("nanmean", "torch.nanmean(x, 1)", X)
row("sum (dtype)", "torch.sum(x, dtype=torch.float64)", X)
row("mean of half", "x.half().mean()", X)
row("softmax of half", "torch.softmax(x.half(), 1)", X)
row("matmul of bfloat16", "x.bfloat16() @ y.bfloat16()", "x=3,4 y=4,2", "x+y")

# More factories
row("ones_like", "torch.ones_like(x)", X, "x")
row("full_like", "torch.full_like(x, 2.5)", X, "x")
row("randn_like", "torch.randn_like(x)", X, "x")
row("randint_like", "torch.randint_like(x, 5)", X, "x")
row("new_ones", "x.new_ones(2, 2)", X, "x")
row("new_full", "x.new_full((2, 2), 0.5)", X, "x")
row("logspace", "torch.logspace(0, 2, 5)", X, "none")
row("normal", "torch.normal(0.5, 2.0, (3, 4))", X, "none")
row("uniform_", "x.uniform_(-1.0, 2.0)", X, "none")
row("normal_", "x.normal_(1.0, 0.5)", X, "none")
row("exponential_", "x.exponential_(2.0)", X, "none")
for name, arguments in (("xavier_uniform_", "gain=1.5"), ("xavier_normal_", ""),
                        ("kaiming_uniform_", "nonlinearity='relu'"), ("uniform_", "-0.2, 0.3"),
                        ("kaiming_normal_", "mode='fan_out'"), ("trunc_normal_", "std=0.02"),
                        ("sparse_", "sparsity=0.3"), ("constant_", "0.3"), ("normal_", "0.0, 0.1"),
                        ("orthogonal_", "")):
    row("init." + name, "torch.nn.init.%s(x, %s)" % (name, arguments), "x=6,4", "none")

# More of space
row("conv_transpose3d", "F.conv_transpose3d(x, w)", "x=1,2,3,3,3 w=2,2,2,2,2", "x+w")
row("conv2d (groups, dilation)", "F.conv2d(x, w, None, 1, 2, 2, 2)", "x=1,4,5,5 w=4,2,3,3", "x+w")
row("conv1d (even kernel, same)", "F.conv1d(x, w, padding='same')", "x=2,3,6 w=2,3,4", "x+w")
row("conv_transpose2d (groups)", "F.conv_transpose2d(x, w, None, 2, 0, 0, 2)",
    "x=1,4,3,3 w=4,1,2,2", "x+w")
row("max_pool3d", "F.max_pool3d(x, 2)", "x=1,2,4,4,4")
row("max_pool2d (dilation, ceil)", "F.max_pool2d(x, 2, 2, 0, 2, True)", "x=1,2,6,6")
row("max_pool2d (no batch)", "F.max_pool2d(x, 2)", "x=2,4,4")
row("max_pool2d (indices)", "F.max_pool2d(x, 2, return_indices=True)", "x=1,2,4,4")
row("avg_pool3d", "F.avg_pool3d(x, 2)", "x=1,2,4,4,4")
row("avg_pool2d (ceil, not counting)", "F.avg_pool2d(x, 3, 2, 1, True, False)", "x=1,2,5,6")
row("avg_pool2d (divisor)", "F.avg_pool2d(x, 2, divisor_override=3)", "x=1,2,4,4")
row("adaptive_avg_pool3d", "F.adaptive_avg_pool3d(x, (1, 2, 2))", "x=1,2,3,4,5")
row("adaptive_avg_pool2d (None)", "F.adaptive_avg_pool2d(x, (None, 2))", "x=1,2,3,4")
row("adaptive_max_pool1d", "F.adaptive_max_pool1d(x, 3)", "x=2,2,7")
row("adaptive_max_pool3d", "F.adaptive_max_pool3d(x, 2)", "x=1,2,3,4,5")
row("fractional_max_pool2d", "F.fractional_max_pool2d(x, (2, 3), output_size=(3, 4))", "x=2,3,7,8")
row("fractional_max_pool2d (ratio, indices)",
    "F.fractional_max_pool2d(x, 2, output_ratio=(0.6, 0.8), return_indices=True)", "x=3,6,5", "x",
    ("x=1,2,9,9/float64",))
row("fractional_max_pool3d", "F.fractional_max_pool3d(x, 2, output_size=(2, 3, 4))", "x=1,2,4,5,6", "x", ("x=1,2,3,4,6",))
PLACES = "y.flatten(-%d).argsort(-1).view_as(x) * 2"
row("max_unpool1d", "F.max_unpool1d(x, %s, 2)" % (PLACES % 1), "x=2,2,3 y=2,2,3", "x")
row("max_unpool2d", "F.max_unpool2d(x, %s, 2)" % (PLACES % 2), "x=2,3,2,3 y=2,3,2,3", "x")
row("max_unpool2d (stride, padding, size)",
    "F.max_unpool2d(x, %s, 3, 2, 1, (6, 5))" % (PLACES % 2), "x=2,3,3 y=2,3,3", "x")
row("max_unpool2d (beyond)", "F.max_unpool2d(x, %s * 8, 1)" % (PLACES % 2), "x=2,1,1 y=2,1,1", "x",
    ("x=2,3,3 y=2,3,3",))
row("max_unpool3d", "F.max_unpool3d(x, %s, 2)" % (PLACES % 3), "x=1,2,2,1,2 y=1,2,2,1,2", "x")
row("conv_tbc", "torch.conv_tbc(x, w, b)", "x=5,2,3 w=3,3,4 b=4", "x+w+b x w")
row("conv_tbc (padding)", "torch.conv_tbc(x, w, b, 2)", "x=5,2,3 w=6,3,4 b=4", "x+w+b")
row("pixel_unshuffle", "F.pixel_unshuffle(x, 2)", "x=1,2,4,6")
for mode, shape in (("linear", "1,2,4"), ("bicubic", "1,1,4,4"), ("trilinear", "1,1,2,3,2"),
                    ("nearest-exact", "1,2,3,3"), ("area", "1,2,3,4")):
    row("interpolate (%s)" % mode, "F.interpolate(x, scale_factor=1.5, mode='%s')" % mode,
        "x=" + shape)
row("interpolate (nearest, 1d)", "F.interpolate(x, size=5)", "x=1,2,3")
row("interpolate (nearest, 3d)", "F.interpolate(x, scale_factor=2)", "x=1,1,2,2,2")
row("interpolate (bicubic, corners)",
    "F.interpolate(x, size=(5, 6), mode='bicubic', align_corners=True)", "x=1,1,3,4")
row("pad (reflect, 2d)", "F.pad(x, (1, 2, 1, 0), mode='reflect')", "x=1,2,3,4")
row("pad (replicate, 2d)", "F.pad(x, (2, 1, 0, 1), mode='replicate')", "x=1,2,3,4")
row("pad (replicate, 3d)", "F.pad(x, (1, 0, 1, 1, 0, 1), mode='replicate')", "x=1,1,2,2,3")
row("unfold (stride, padding, dilation)", "F.unfold(x, (2, 3), 2, 1, 2)", "x=2,2,5,7")
row("fold (stride)", "F.fold(x, (4, 5), (2, 3), stride=(2, 1))", "x=1,12,6")

# Diagonals, shuffles, grids
row("diag (vector)", "torch.diag(x, 1)", "x=3")
row("diag (matrix)", "torch.diag(x, -1)", X)
row("diag_embed", "torch.diag_embed(x, 1)", X)
row("channel_shuffle", "F.channel_shuffle(x, 3)", "x=2,6,2,2")
row("histc", "torch.histc(x, 4, -1.0, 1.0)", X, "x")
row("round (decimals)", "torch.round(x, decimals=2)", X)
row("weight_norm", "torch._weight_norm(x, g, 0)", "x=3,4 g=u:3,1", "x+g x")
for mode, padding in (("bilinear", "zeros"), ("bilinear", "border"), ("bilinear", "reflection"),
                      ("nearest", "zeros"), ("bicubic", "zeros")):
    row("grid_sample (%s, %s)" % (mode, padding),
        "F.grid_sample(x, y, mode='%s', padding_mode='%s', align_corners=False)" % (mode, padding),
        "x=2,2,4,5 y=2,3,2,2", "x+y x y")
row("grid_sample (corners)", "F.grid_sample(x, y, align_corners=True)", "x=1,2,4,5 y=1,3,2,2", "x+y")
row("grid_sample (volume)", "F.grid_sample(x, y, align_corners=False)",
    "x=1,2,3,4,2 y=1,2,2,3,3", "x+y x y")
row("affine_grid", "F.affine_grid(x, (2, 3, 4, 5), align_corners=False)", "x=2,2,3")
row("affine_grid (volume)", "F.affine_grid(x, (1, 2, 3, 2, 4), align_corners=True)", "x=1,3,4")
row("alpha_dropout", "F.alpha_dropout(x, 0.3, True)", X)
row("feature_alpha_dropout", "F.feature_alpha_dropout(x, 0.3, True)", "x=2,4,3")

# More recurrent
row("rnn_relu_cell", "torch.rnn_relu_cell(x, h, w, u, b, c)", "x=3,4 h=3,5 w=5,4 u=5,5 b=5 c=5",
    "x+h+w+u+b+c")
row("rnn_relu", "h = torch.zeros(1, 3, 5)\nfirst(torch.rnn_relu(x, h, %s))" % ARGS,
    "x=6,3,4 w=5,4 u=5,5 b=5 c=5", "x+w+u+b+c")

# More linear algebra
row("slogdet", "torch.linalg.slogdet(x)", "x=spd:3,3")
row("solve (vector)", "torch.linalg.solve(a, b)", "a=spd:3,3 b=3", "a+b a b")
row("inv (batch)", "torch.linalg.inv(x)", "x=spd:2,3,3")
row("det (batch)", "torch.linalg.det(x)", "x=spd:2,3,3")

# Layers, frozen, with PyTorch's initial values from the seed
for code, inputs in (
        ("Linear(4, 3)", "x=2,4"), ("Conv1d(3, 4, 3, padding=1)", "x=2,3,6"),
        ("Conv2d(3, 4, 3, stride=2)", "x=1,3,7,7"), ("Conv3d(1, 2, 2)", "x=1,1,3,3,3"),
        ("ConvTranspose2d(3, 2, 2, stride=2)", "x=1,3,3,3"), ("Bilinear(3, 3, 2)", None),
        ("BatchNorm1d(4)", "x=6,4"), ("BatchNorm2d(2)", "x=2,2,3,3"),
        ("BatchNorm1d(4, affine=False)", "x=6,4"), ("LayerNorm(4)", "x=2,3,4"),
        ("LayerNorm((3, 4), elementwise_affine=False)", "x=2,3,4"),
        ("GroupNorm(2, 4)", "x=2,4,3"), ("InstanceNorm2d(2)", "x=2,2,3,3"),
        ("RMSNorm(4)", "x=2,3,4"), ("ReLU()", "x=3,4"), ("LeakyReLU(0.2)", "x=3,4"),
        ("ELU()", "x=3,4"), ("GELU()", "x=3,4"), ("SiLU()", "x=3,4"), ("Tanh()", "x=3,4"),
        ("Sigmoid()", "x=3,4"), ("Softplus()", "x=3,4"), ("Hardswish()", "x=3,4"),
        ("PReLU()", "x=3,4"), ("Softmax(dim=1)", "x=3,4"), ("LogSoftmax(dim=1)", "x=3,4"),
        ("Dropout(0.4)", "x=3,4"), ("Dropout2d(0.4)", "x=2,4,2,2"), ("Identity()", "x=3,4"),
        ("Flatten()", "x=2,3,4"), ("Unflatten(1, (2, 2))", "x=3,4"),
        ("MaxPool2d(2)", "x=1,2,4,4"), ("AvgPool2d(2, padding=1)", "x=1,2,4,4"),
        ("AdaptiveAvgPool2d(1)", "x=1,2,4,4"), ("Upsample(scale_factor=2)", "x=1,2,3,3"),
        ("ZeroPad2d(1)", "x=1,2,3,3"), ("PixelShuffle(2)", "x=1,4,3,3"),
        ("TransformerEncoderLayer(4, 2, 8, batch_first=True)", "x=2,3,4"),
        ("TransformerEncoderLayer(4, 2, 8, dropout=0.0, activation='gelu', norm_first=True)",
         "x=3,2,4")):
    row("nn." + code, "nn.%s(x%s)" % (code, "" if inputs else ", x"), inputs or "x=4,3")
row("nn.Embedding(7, 3)", "nn.Embedding(7, 3)(t)", "t=i7:2,4", "none")
for code, inputs in (
        ("LSTM(4, 5)", "x=6,3,4"), ("LSTM(4, 5, bias=False)", "x=6,3,4"),
        ("LSTM(4, 5, num_layers=2, batch_first=True, bidirectional=True)", "x=3,6,4"),
        ("LSTM(4, 5, num_layers=2, dropout=0.3)", "x=4,3,4"),
        ("LSTM(4, 6, proj_size=2)", "x=3,2,4"), ("GRU(4, 5)", "x=4,3,4"),
        ("GRU(4, 5, num_layers=2, bidirectional=True)", "x=4,3,4"),
        ("GRU(4, 5, batch_first=True)", "x=3,4,4"), ("RNN(4, 5)", "x=4,3,4"),
        ("RNN(4, 5, nonlinearity='relu', bidirectional=True)", "x=4,3,4"),
        ("LSTM(4, 5) without a batch", "x=6,4")):
    code, _, label = code.partition(" without")
    row("nn." + code + (" without" + label if label else ""), "first(nn.%s(x))" % code, inputs)
row("nn.LSTMCell(4, 5)", "nn.LSTMCell(4, 5)(x)", "x=3,4")
row("nn.GRUCell(4, 5)", "nn.GRUCell(4, 5)(x)", "x=3,4")
row("nn.RNNCell(4, 5)", "nn.RNNCell(4, 5)(x)", "x=3,4")
for code, target in (
        ("MSELoss()", "y=3,4"), ("L1Loss()", "y=3,4"), ("SmoothL1Loss()", "y=3,4"),
        ("HuberLoss()", "y=3,4"), ("CrossEntropyLoss()", "y=i4:3"),
        ("CrossEntropyLoss(label_smoothing=0.1)", "y=i4:3"), ("NLLLoss()", "y=i4:3"),
        ("BCEWithLogitsLoss()", "y=u:3,4"), ("KLDivLoss(reduction='batchmean')", "y=u:3,4")):
    row("nn." + code, "nn.%s(x, y)" % code, "x=3,4 " + target, "x")

# Layouts: what is pointwise keeps the order of its operands' dimensions, and views show it
for code in ("(x.t() * 2.0).contiguous()", "(x.t() + y).reshape(12)", "torch.relu(x.t()).view(-1, 3)",
             "(x.t() + y.t()).t().view(12)", "(x.t() * y.t().sum(0)).contiguous()",
             "torch.where(x.t() > 0, x.t(), y.t()).contiguous()", "x.t().double().contiguous()",
             "torch.sigmoid(x.t()).t().view(12)", "x.t().clamp(0, 1).contiguous()",
             "(x.t().exp() + 1.0).flatten()", "x.t().softmax(0).contiguous()",
             "x.t().clone().contiguous()", "F.dropout(x.t(), 0.5, True).contiguous()"):
    row("layout: " + code, code, "x=3,4 y=4,3" if "x.t() + y)" in code else XY, "x")
row("layout: permuted sum", "(x.permute(2, 0, 1) + y).contiguous()", "x=2,3,4 y=3", "x+y")
row("layout: permuted product", "(x.permute(0, 2, 1) * y).reshape(2, 12)", "x=2,3,4 y=2,4,3",
    "x+y")

# Memory formats. Images are recorded with channels last, too (see laid_out).
I = "x=2,3,4,2"
LAST = "memory_format=torch.channels_last"
row("contiguous (channels last)", "x.contiguous(%s)" % LAST, I)
row("contiguous (channels last, 3d)",
    "x.contiguous(memory_format=torch.channels_last_3d)", "x=2,3,2,2,3")
row("contiguous (contiguous)", "x.contiguous(memory_format=torch.contiguous_format)", I)
row("contiguous (no image)", "x.contiguous(%s)" % LAST, I, "x", ("x=3,4,2", "x=2,3,2,2,2"))
row("contiguous (preserve)", "x.contiguous(memory_format=torch.preserve_format)", I)
row("clone (channels last)", "x.clone(%s)" % LAST, I)
row("clone (contiguous)", "x.clone(memory_format=torch.contiguous_format)", I)
row("clone (preserve)", "x.clone(memory_format=torch.preserve_format)", I)
row("clone (not dense)", "x[:, :, ::2].clone()", I)
row("clone (not dense, turned)", "x.transpose(1, 2)[:, :, ::2].clone()", I)
row("to (channels last)", "x.to(%s)" % LAST, I)
row("to (contiguous)", "x.to(memory_format=torch.contiguous_format)", I)
row("to (double, channels last)", "x.to(torch.float64, %s)" % LAST, I)
row("to (not dense)", "x.transpose(1, 2)[:, :, ::2].to(torch.float64)", I)
row("to (contiguous, turned)", "x.t().to(memory_format=torch.contiguous_format)", X)
row("double (channels last)", "x.double(%s)" % LAST, I)
row("empty_like (channels last)", "torch.zeros_like(x, %s)" % LAST, I, "none")
row("empty_like (contiguous)", "torch.zeros_like(x, memory_format=torch.contiguous_format)", I,
    "none")
row("ones_like (not dense)", "torch.ones_like(x.transpose(1, 2)[:, :, ::2])", I, "none")
row("to (one channel)", "x.to(%s)" % LAST, "x=2,1,4,2", "x", ("x=2,3,1,1", "x=2,1,1,1"))
row("view of an image", "x.view(2, -1)", I)
row("flatten an image", "x.flatten(1)", I)
row("reshape an image", "x.reshape(2, 3, 8)", I)
row("an image in the layout of another", "torch.add(x, y)", "x=2,3,4,2 y=1,3,1,1", "x+y")
row("cat of images", "torch.cat([x, y], 1)", "x=2,3,4,2 y=2,1,4,2", "x+y")
row("cat of two layouts", "torch.cat([x, y.contiguous()], 1)", "x=2,3,4,2 y=2,1,4,2", "x+y")
row("stack of images", "torch.stack([x, y], 1)", "x=2,3,4,2 y=2,3,4,2", "x+y")
row("stack of images (first)", "torch.stack([x, y])", "x=2,3,4,2 y=2,3,4,2", "x+y")
row("stack of images (last)", "torch.stack([x, y], -1)", "x=2,3,4,2 y=2,3,4,2", "x+y")
row("stack of images (rows)", "torch.stack([x, y], 2)", "x=2,3,4,2 y=2,3,4,2", "x+y")
row("roll an image", "x.roll(1, 2)", I)
row("roll an image (two)", "x.roll((1, 2), (2, 3))", I)
row("flip an image", "x.flip(2)", I)
row("an image's rows", "x[i]", "x=2,3,4,2 i=i2:3")
row("an image's channels", "x[:, i]", "x=2,3,4,2 i=i3:2")
row("index_select of an image", "x.index_select(1, i)", "x=2,3,4,2 i=i3:2")
row("softmax of an image", "F.softmax(x, 1)", I)
row("log_softmax of an image", "F.log_softmax(x, 1)", I)
row("cross_entropy of an image", "F.cross_entropy(x, t)", "x=2,3,4,2 t=i3:2,4,2")
row("sum of an image", "x.sum(1)", I)
row("sum of an image (kept)", "x.sum((2, 3), keepdim=True)", I)
row("mean of an image", "x.mean((2, 3))", I)
row("max of an image", "x.max(1).values", I)
row("cumsum of an image", "x.cumsum(1)", I)
row("prelu of an image", "F.prelu(x, w)", "x=2,3,4,2 w=3", "x+w")
row("glu of an image", "F.glu(x, 1)", "x=2,4,3,3")
row("relu of an image", "F.relu(x)", I)
row("gelu of an image", "F.gelu(x)", I)
row("dropout of an image", "F.dropout(x, 0.5)", I)
row("dropout2d of an image", "F.dropout2d(x, 0.5)", I)
row("where of an image", "torch.where(c, x, y)", "c=bool:2,3,4,2 x=2,3,4,2 y=2,3,4,2", "x+y")
row("group_norm of an image", "F.group_norm(x, 2, w, b)", "x=2,4,3,3 w=4 b=4", "x+w+b")
row("instance_norm of an image", "F.instance_norm(x)", I)
row("layer_norm of an image", "F.layer_norm(x, (2,), w, b)", "x=1,3,4,2 w=2 b=2", "x+w+b")
row("batch_norm of an image (eval)", "F.batch_norm(x, m, v, w, b)",
    "x=2,3,4,2 m=3 v=u:3 w=3 b=3", "x+w+b")
row("avg_pool3d of an image", "F.avg_pool3d(x, 2)", "x=1,2,4,4,4")
row("adaptive_avg_pool3d of an image", "F.adaptive_avg_pool3d(x, 2)", "x=1,2,4,4,4")
row("adaptive_avg_pool3d of an image (1)", "F.adaptive_avg_pool3d(x, 1)", "x=1,2,4,4,4")
row("conv3d of a batch", "F.conv3d(x, w)", "x=2,1,3,3,3 w=2,1,2,2,2", "x+w")
row("conv_transpose3d of a batch", "F.conv_transpose3d(x, w)", "x=2,1,2,2,1 w=1,2,2,2,1", "x+w")
row("a network's head", "F.linear(F.relu(F.conv2d(x, w)).flatten(1), v)",
    "x=2,2,4,4 w=3,2,3,3 v=2,12", "x+w+v")
row("a residual", "torch.add(x, F.conv2d(F.relu(x), w, padding=1))", "x=1,2,4,4 w=2,2,3,3", "x+w")
row("pad of an image (circular)", "F.pad(x, (1, 1, 1, 1), mode='circular')", "x=1,2,3,4")
row("pad of a volume", "F.pad(x, (1, 0, 1, 0, 1, 0))", "x=1,2,2,3,2")
row("pixel_shuffle of an image", "F.pixel_shuffle(x, 2)", "x=1,4,2,3")
row("unfold of an image", "F.unfold(x, 2)", "x=1,2,3,4")
row("permute of an image", "x.permute(0, 2, 3, 1).contiguous()", I)
row("interpolate of an image (bicubic)", "F.interpolate(x, scale_factor=2, mode='bicubic')",
    "x=1,2,3,3")
row("attention with dropout", "F.scaled_dot_product_attention(q, k, v, dropout_p=0.3)",
    "q=2,3,4 k=2,3,4 v=2,3,4", "q+k+v")
row("attention with dropout, causal",
    "F.scaled_dot_product_attention(q, k, v, dropout_p=0.3, is_causal=True)",
    "q=2,3,4 k=2,3,4 v=2,3,4", "q+k+v")
