"""Few-line programs, one for each layer, function and optimizer that the replay has.

Each is a name, what is made before the loop, and what is called in its first turn; the second
turn runs backward from it. Optimizers train a small network for three turns.
"""

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
"""

LOOP = """for turn in range(2):
    if turn == 0:
        out = %s
    else:
        %s.backward(torch.ones_like(%s))
"""

TRAINING = """x, y = torch.randn(8, 6), torch.randn(8, 1)
net = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 1))
opt = torch.optim.%s


def closure():
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss


for turn in range(3):
    opt.step(closure)
"""


def given(*shapes):
    """Lines that make x, y, z of these shapes, with gradients."""
    return "".join("%s = torch.randn(%s, requires_grad=True)\n" % (name, shape)
                   for name, shape in zip("xyz", shapes))


ROWS = []


def add(name, before, call, result="out", note=""):
    ROWS.append((name + (" (%s)" % note if note else ""),
                 HEAD + before + LOOP % (call, result, result)))


def layer(made, *shapes, call="layer(%s)", result="out", note="", before=""):
    names = ", ".join("xyz"[:len(shapes)])
    add("nn." + made.split("(")[0], given(*shapes) + before + "layer = nn.%s\n" % made,
        call % names if "%s" in call else call, result, note)


def function(call, *shapes, result="out", note="", before=""):
    add("F." + call.split("(")[0], given(*shapes) + before, "F." + call, result, note)


def optimizer(made, note=""):
    name = "optim." + made.split("(")[0]
    ROWS.append((name + (" (%s)" % note if note else ""), HEAD + TRAINING % made))


IMAGE, LINE, VOLUME, BLOCK = "2, 4, 9, 9", "2, 4, 9", "2, 4, 5, 5, 5", "2, 4, 6, 6, 6"

# containers and products
layer("Linear(6, 5)", "3, 6")
layer("Linear(6, 5)", "3, 7, 6", note="three dimensions")
layer("Linear(6, 5, bias=False)", "3, 6", note="no bias")
layer("Bilinear(3, 4, 5)", "2, 3", "2, 4")
layer("Identity()", "3, 6")
layer("Flatten()", IMAGE)
layer("Unflatten(1, (2, 3))", "4, 6")
layer("Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))", "3, 6")
layer("ModuleList([nn.Linear(6, 6) for _ in range(3)])", "3, 6", call="layer[2](layer[1](layer[0](x)))")
layer("ModuleDict({'a': nn.Linear(6, 5)})", "3, 6", call="layer['a'](x)")
layer("ParameterList([torch.ones(6) for _ in range(2)])", "3, 6", call="x * layer[0] + layer[1]")
layer("ParameterDict({'a': torch.ones(6)})", "3, 6", call="x * layer['a']")
layer("LazyLinear(5)", "3, 6")
layer("DataParallel(nn.Linear(6, 5))", "3, 6")

# convolutions
for n, shape in ((1, LINE), (2, IMAGE), (3, VOLUME)):
    layer("Conv%dd(4, 8, 3, padding=1)" % n, shape)
    layer("Conv%dd(4, 8, 3, stride=2, bias=False)" % n, shape, note="stride, no bias")
    layer("Conv%dd(4, 8, 3, groups=2, dilation=2)" % n, shape, note="groups, dilation")
    layer("ConvTranspose%dd(4, 8, 3)" % n, shape)
    layer("ConvTranspose%dd(4, 8, 3, stride=2, output_padding=1)" % n, shape, note="stride")
    layer("LazyConv%dd(8, 3)" % n, shape)
    layer("LazyConvTranspose%dd(8, 3)" % n, shape)
layer("Conv2d(4, 8, 3, padding=1)", "1, 4, 9, 9", note="one image")
layer("Conv2d(4, 8, 1)", IMAGE, note="one by one")
layer("Conv2d(4, 4, 3, groups=4)", IMAGE, note="depthwise")
layer("Conv2d(4, 8, 3, padding='same', padding_mode='reflect')", IMAGE, note="reflected")
layer("Fold((8, 8), 3)", "2, 36, 36")
layer("Unfold(3)", IMAGE)

# pooling
for n, shape in ((1, LINE), (2, IMAGE), (3, BLOCK)):
    layer("MaxPool%dd(2)" % n, shape)
    layer("AvgPool%dd(2)" % n, shape)
    layer("LPPool%dd(2, 2)" % n, shape)
    layer("AdaptiveAvgPool%dd(2)" % n, shape)
    layer("AdaptiveAvgPool%dd(1)" % n, shape, note="one")
    layer("AdaptiveMaxPool%dd(2)" % n, shape)
    add("nn.MaxUnpool%dd" % n, given(shape) + "layer = nn.MaxUnpool%dd(3)\npool = nn.MaxPool%dd(3, return_indices=True)\n"
        % (n, n), "layer(*pool(x))")
layer("MaxPool2d(3, stride=1, padding=1)", IMAGE, note="padded")
layer("FractionalMaxPool2d(3, output_size=4)", IMAGE)
layer("FractionalMaxPool3d(2, output_size=2)", VOLUME)

# normalization
for n, shape in ((1, LINE), (2, IMAGE), (3, VOLUME)):
    layer("BatchNorm%dd(4)" % n, shape)
    layer("BatchNorm%dd(4)" % n, shape, note="evaluation", call="layer.eval()(x)")
    layer("InstanceNorm%dd(4)" % n, shape)
    layer("InstanceNorm%dd(4, affine=True, track_running_stats=True)" % n, shape, note="affine, tracked")
    layer("LazyBatchNorm%dd()" % n, shape)
    layer("LazyInstanceNorm%dd()" % n, shape)
layer("BatchNorm1d(6)", "5, 6", note="rows")
layer("BatchNorm2d(4, affine=False)", IMAGE, note="not affine")
layer("SyncBatchNorm(4)", IMAGE, note="evaluation", call="layer.eval()(x)")
layer("LayerNorm(6)", "3, 5, 6")
layer("LayerNorm(6, elementwise_affine=False)", "3, 5, 6", note="not affine")
layer("RMSNorm(6)", "3, 5, 6")
layer("GroupNorm(2, 4)", IMAGE)
layer("LocalResponseNorm(3)", IMAGE)
layer("CrossMapLRN2d(3)", IMAGE)

# embeddings
INDICES = "i = torch.tensor([[1, 2, 0], [4, 1, 2]])\n"
layer("Embedding(7, 5)", before=INDICES, call="layer(i)")
layer("Embedding(7, 5, padding_idx=0)", before=INDICES, call="layer(i)", note="padding")
layer("EmbeddingBag(7, 5)", before=INDICES, call="layer(i)")
layer("EmbeddingBag(7, 5, mode='sum')", before=INDICES, call="layer(i)", note="sum")
layer("EmbeddingBag(7, 5, mode='max')", before=INDICES, call="layer(i)", note="max")

# dropout
for made in ("Dropout(0.5)", "AlphaDropout(0.5)"):
    layer(made, "3, 6")
    layer(made, "3, 6", call="layer.eval()(x)", note="evaluation")
layer("FeatureAlphaDropout(0.5)", IMAGE)
layer("Dropout1d(0.5)", LINE)
layer("Dropout2d(0.5)", IMAGE)
layer("Dropout3d(0.5)", VOLUME)

# activations
for made in ("ReLU()", "ReLU6()", "SiLU()", "Mish()", "Hardswish()", "Hardsigmoid()", "SELU()", "LeakyReLU()", "ELU()",
             "CELU()", "GELU()", "Sigmoid()", "Tanh()", "Softplus()", "Softsign()", "Tanhshrink()", "Softshrink()",
             "Hardshrink()", "LogSigmoid()", "Hardtanh()", "Softmax(1)", "LogSoftmax(1)", "Softmin(1)", "GLU()", "PReLU()",
             "Threshold(0.1, 0.5)", "RReLU()"):
    layer(made, "3, 6")
for made in ("ReLU(inplace=True)", "LeakyReLU(inplace=True)", "ELU(inplace=True)", "SiLU(inplace=True)"):
    layer(made, "3, 6", call="layer(x * 2)", note="in place")
layer("GELU(approximate='tanh')", "3, 6", note="tanh")
layer("PReLU(4)", IMAGE, note="channels")
layer("RReLU()", "3, 6", call="layer.eval()(x)", note="evaluation")
layer("RReLU(inplace=True)", "3, 6", call="layer(x * 2)", note="in place")
layer("Softmax2d()", IMAGE)
layer("AdaptiveLogSoftmaxWithLoss(16, 10, [3, 7])", "4, 16", before="t = torch.tensor([0, 5, 8, 2])\n", call="layer(x, t)",
      result="out.loss")

# losses
CLASSES = "t = torch.tensor([1, 0, 3, 2])\n"
TARGET = "t = torch.rand(4, 5)\n"
SIGNS = "t = torch.tensor([1., -1., 1., -1.])\n"
for made in ("MSELoss()", "L1Loss()", "SmoothL1Loss()", "HuberLoss()", "BCEWithLogitsLoss()", "PoissonNLLLoss()"):
    layer(made, "4, 5", before=TARGET, call="layer(x, t)")
for made in ("MSELoss(reduction='sum')", "L1Loss(reduction='none')", "HuberLoss(delta=0.5, reduction='sum')"):
    layer(made, "4, 5", before=TARGET, call="layer(x, t)", note=made.split("'")[1])
layer("MSELoss()", "4, 5", "4, 5", call="layer(x, y)", note="both with gradients")
layer("BCELoss()", "4, 5", before=TARGET, call="layer(x.sigmoid(), t)")
layer("CrossEntropyLoss()", "4, 5", before=CLASSES, call="layer(x, t)")
layer("CrossEntropyLoss(label_smoothing=0.1)", "4, 5", before=CLASSES, call="layer(x, t)", note="smoothed")
layer("CrossEntropyLoss(weight=torch.rand(5))", "4, 5", before=CLASSES, call="layer(x, t)", note="weights")
layer("CrossEntropyLoss()", "4, 5", before=TARGET, call="layer(x, t)", note="probabilities")
layer("CrossEntropyLoss()", "2, 5, 3, 3", before="t = torch.randint(0, 5, (2, 3, 3))\n", call="layer(x, t)", note="images")
layer("NLLLoss()", "4, 5", before=CLASSES, call="layer(F.log_softmax(x, 1), t)")
layer("NLLLoss2d()", "2, 5, 3, 3", before="t = torch.randint(0, 5, (2, 3, 3))\n", call="layer(x, t)")
layer("KLDivLoss(reduction='batchmean')", "4, 5", before=TARGET, call="layer(x.log_softmax(1), t)")
layer("KLDivLoss(log_target=True, reduction='sum')", "4, 5", "4, 5", call="layer(x, y)", note="log target")
layer("SoftMarginLoss()", "4", before=SIGNS, call="layer(x, t)")
layer("HingeEmbeddingLoss()", "4", before=SIGNS, call="layer(x, t)")
layer("MarginRankingLoss(0.1)", "4", "4", before=SIGNS, call="layer(x, y, t)")
layer("CosineEmbeddingLoss()", "4, 5", "4, 5", before=SIGNS, call="layer(x, y, t)")
layer("TripletMarginLoss()", "4, 5", "4, 5", "4, 5")
layer("TripletMarginLoss(swap=True)", "4, 5", "4, 5", "4, 5", note="swap")
layer("TripletMarginWithDistanceLoss()", "4, 5", "4, 5", "4, 5")
layer("GaussianNLLLoss()", "4, 5", before=TARGET, call="layer(x, t, torch.ones(4, 5))")
layer("MultiMarginLoss()", "4, 5", before=CLASSES, call="layer(x, t)")
layer("MultiLabelMarginLoss()", "4, 5", before="t = torch.tensor([[1, 2, -1, 0, 0]] * 4)\n", call="layer(x, t)")
layer("MultiLabelSoftMarginLoss()", "4, 5", before="t = torch.ones(4, 5)\n", call="layer(x, t)")
layer("CTCLoss()", "6, 2, 5", before="t = torch.tensor([[1, 2, 3], [2, 2, 1]])\n",
      call="layer(x.log_softmax(2), t, torch.tensor([6, 6]), torch.tensor([3, 2]))")
layer("LinearCrossEntropyLoss(6, 5)", "4, 6", before=CLASSES, call="layer(x, t)")

# distances, images, padding
layer("CosineSimilarity()", "4, 5", "4, 5")
layer("PairwiseDistance()", "4, 5", "4, 5")
layer("Upsample(scale_factor=2)", IMAGE)
for mode in ("bilinear", "bicubic"):
    layer("Upsample(scale_factor=2, mode='%s')" % mode, IMAGE, note=mode)
layer("Upsample(scale_factor=2, mode='linear')", LINE, note="linear")
layer("Upsample(scale_factor=2, mode='trilinear')", VOLUME, note="trilinear")
layer("UpsamplingNearest2d(scale_factor=2)", IMAGE)
layer("UpsamplingBilinear2d(scale_factor=2)", IMAGE)
layer("PixelShuffle(2)", IMAGE)
layer("PixelUnshuffle(2)", "2, 4, 8, 8")
layer("ChannelShuffle(2)", IMAGE)
for n, shape in ((1, LINE), (2, IMAGE), (3, VOLUME)):
    for made in ("ZeroPad%dd(1)", "ConstantPad%dd(1, 0.5)", "ReflectionPad%dd(1)", "ReplicationPad%dd(1)", "CircularPad%dd(1)"):
        layer(made % n, shape)

# recurrent layers
for kind in ("RNN", "GRU", "LSTM"):
    layer("%s(5, 6, batch_first=True)" % kind, "2, 4, 5", result="out[0]")
    layer("%s(5, 6, 2, bidirectional=True, dropout=0.1)" % kind, "4, 2, 5", result="out[0]",
          note="two layers, both ways")
layer("LSTM(5, 6, proj_size=3)", "4, 2, 5", result="out[0]", note="projected")
layer("RNNCell(5, 6)", "2, 5")
layer("GRUCell(5, 6)", "2, 5")
layer("LSTMCell(5, 6)", "2, 5", result="out[0]")

# attention
layer("MultiheadAttention(8, 2, batch_first=True)", "2, 5, 8", call="layer(x, x, x)", result="out[0]")
layer("MultiheadAttention(8, 2, batch_first=True)", "2, 5, 8", call="layer(x, x, x, need_weights=False)",
      result="out[0]", note="without weights")
ATTENTION = "layer(x, y, y%s)"
for made, more, note in (("bias=False", "", "no bias"), ("add_bias_kv=True", "", "bias of keys"),
                         ("add_zero_attn=True", "", "zeros"), ("dropout=0.1", "", "dropout"),
                         ("dropout=0.1", ", need_weights=False", "dropout, without weights"),
                         ("", ", average_attn_weights=False", "weights of heads"),
                         ("", ", attn_mask=torch.zeros(5, 4)", "mask"),
                         ("", ", attn_mask=torch.ones(5, 4).tril() == 0, need_weights=False", "mask of bools"),
                         ("", ", key_padding_mask=torch.tensor([[False] * 4, [False, False, True, True]])", "padding"),
                         ("add_bias_kv=True, add_zero_attn=True",
                          ", attn_mask=torch.zeros(5, 4), key_padding_mask=torch.zeros(2, 4), need_weights=False",
                          "all of it")):
    layer("MultiheadAttention(8, 2%s)" % (made and ", " + made), "5, 2, 8", "4, 2, 8", call=ATTENTION % more,
          result="out[0]", note=note)
layer("MultiheadAttention(8, 2, kdim=6, vdim=4)", "5, 2, 8", "4, 2, 6", "4, 2, 4", result="out[0]", note="other sizes")
layer("MultiheadAttention(8, 2)", "5, 8", "4, 8", call=ATTENTION % "", result="out[0]", note="no batch")
layer("MultiheadAttention(8, 2)", "5, 2, 8", result="out[0]", note="causal",
      call="layer.eval()(x, x, x, attn_mask=torch.ones(5, 5).triu(1) > 0, is_causal=True, need_weights=False)")
layer("TransformerEncoderLayer(8, 2, 16, batch_first=True)", "2, 5, 8")
layer("TransformerEncoderLayer(8, 2, 16, norm_first=True, activation='gelu')", "5, 2, 8", note="norm first")
layer("TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)", "5, 2, 8")
layer("TransformerDecoderLayer(8, 2, 16)", "5, 2, 8", "4, 2, 8")
layer("TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)", "5, 2, 8", "4, 2, 8")
layer("Transformer(8, 2, 1, 1, 16)", "5, 2, 8", "4, 2, 8")

# functions that no layer above stands for
for call in ("relu(x)", "relu6(x)", "silu(x)", "mish(x)", "hardswish(x)", "hardsigmoid(x)", "selu(x)", "leaky_relu(x)",
             "elu(x)", "celu(x)", "gelu(x)", "sigmoid(x)", "tanh(x)", "softplus(x)", "softsign(x)", "tanhshrink(x)",
             "softshrink(x)", "hardshrink(x)", "logsigmoid(x)", "hardtanh(x)", "softmax(x, dim=1)",
             "log_softmax(x, dim=1)", "softmin(x, dim=1)", "glu(x)", "threshold(x, 0.1, 0.5)", "rrelu(x, training=True)",
             "normalize(x)", "dropout(x)", "alpha_dropout(x, training=True)", "gumbel_softmax(x)"):
    function(call, "3, 6")
for call in ("relu_", "elu_", "selu_", "celu_", "leaky_relu_", "hardtanh_", "rrelu_"):
    function(call + "(x * 2)", "3, 6")
function("threshold_(x * 2, 0.1, 0.5)", "3, 6")
function("gumbel_softmax(x, hard=True)", "3, 6", note="hard")
function("prelu(x, y)", "3, 6", "1")
function("linear(x, y, z)", "3, 6", "5, 6", "5")
function("bilinear(x, y, z)", "2, 3", "2, 4", "5, 3, 4")
for n, shape, kernel in ((1, LINE, "3"), (2, IMAGE, "3, 3"), (3, BLOCK, "3, 3, 3")):
    function("conv%dd(x, y)" % n, shape, "8, 4, " + kernel)
    function("conv_transpose%dd(x, y)" % n, shape, "4, 8, " + kernel)
    for pool in ("max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool"):
        function("%s%dd(x, 2)" % (pool, n), shape)
    function("lp_pool%dd(x, 2, 2)" % n, shape)
    function("max_unpool%dd(*F.max_pool%dd(x, 3, return_indices=True), 3)" % (n, n), shape)
    function("dropout%dd(x)" % n, shape)
function("feature_alpha_dropout(x, training=True)", IMAGE)
function("fractional_max_pool2d(x, 3, output_size=4)", IMAGE)
function("fractional_max_pool3d(x, 2, output_size=2)", VOLUME)
function("batch_norm(x, None, None, training=True)", IMAGE)
function("instance_norm(x)", IMAGE)
function("layer_norm(x, (6,))", "3, 6")
function("rms_norm(x, (6,))", "3, 6")
function("group_norm(x, 2)", IMAGE)
function("local_response_norm(x, 3)", IMAGE)
function("embedding(i, x)", "7, 5", before=INDICES)
function("embedding_bag(i, x)", "7, 5", before=INDICES)
function("one_hot(i, 7) * x", "7", before=INDICES)
function("unfold(x, 3)", IMAGE)
function("fold(x, (8, 8), 3)", "2, 36, 36")
function("interpolate(x, scale_factor=2)", IMAGE)
function("upsample(x, scale_factor=2)", IMAGE)
function("upsample_nearest(x, scale_factor=2)", IMAGE)
function("upsample_bilinear(x, scale_factor=2)", IMAGE)
function("pad(x, (1, 1))", IMAGE)
for mode in ("reflect", "replicate", "circular"):
    function("pad(x, (1, 1, 1, 1), mode='%s')" % mode, IMAGE, note=mode)
function("pixel_shuffle(x, 2)", IMAGE)
function("pixel_unshuffle(x, 2)", "2, 4, 8, 8")
function("channel_shuffle(x, 2)", IMAGE)
ROWS.append(("F.native_channel_shuffle", HEAD + given(IMAGE) + """for turn in range(2):
    out = F.native_channel_shuffle(x, 2)
"""))
function("conv_tbc(x, y, z)", "5, 2, 3", "3, 3, 4", "4")
function("linear_cross_entropy(x, y, t)", "4, 6", "5, 6", before=CLASSES)
GRID = "grid = (torch.rand(2, 3, 3, 2) * 2 - 1).requires_grad_()\n"
for more in ("", ", mode='nearest'", ", mode='bicubic'", ", padding_mode='border'", ", padding_mode='reflection'"):
    function("grid_sample(x, grid, align_corners=False%s)" % more, IMAGE, before=GRID, note=more[2:].replace("'", ""))
function("grid_sample(x, grid, align_corners=True)", VOLUME, before="grid = (torch.rand(2, 3, 3, 3, 3) * 2 - 1).requires_grad_()\n",
         note="volumes")
function("affine_grid(x, (2, 4, 5, 5), align_corners=False)", "2, 2, 3")
function("affine_grid(x, (2, 4, 3, 5, 5), align_corners=False)", "2, 3, 4", note="volumes")
for call in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits", "poisson_nll_loss"):
    function(call + "(x, t)", "4, 5", before=TARGET)
function("binary_cross_entropy(x.sigmoid(), t)", "4, 5", before=TARGET)
function("cross_entropy(x, t)", "4, 5", before=CLASSES)
function("nll_loss(F.log_softmax(x, 1), t)", "4, 5", before=CLASSES)
function("kl_div(x.log_softmax(1), t, reduction='batchmean')", "4, 5", before=TARGET)
function("soft_margin_loss(x, t)", "4", before=SIGNS)
function("hinge_embedding_loss(x, t)", "4", before=SIGNS)
function("margin_ranking_loss(x, y, t)", "4", "4", before=SIGNS)
function("cosine_embedding_loss(x, y, t)", "4, 5", "4, 5", before=SIGNS)
function("triplet_margin_loss(x, y, z)", "4, 5", "4, 5", "4, 5")
function("triplet_margin_with_distance_loss(x, y, z)", "4, 5", "4, 5", "4, 5")
function("gaussian_nll_loss(x, t, torch.ones(4, 5))", "4, 5", before=TARGET)
function("multi_margin_loss(x, t)", "4, 5", before=CLASSES)
function("multilabel_margin_loss(x, t)", "4, 5", before="t = torch.tensor([[1, 2, -1, 0, 0]] * 4)\n")
function("multilabel_soft_margin_loss(x, t)", "4, 5", before="t = torch.ones(4, 5)\n")
function("ctc_loss(x.log_softmax(2), t, torch.tensor([6, 6]), torch.tensor([3, 2]))", "6, 2, 5",
         before="t = torch.tensor([[1, 2, 3], [2, 2, 1]])\n")
function("cosine_similarity(x, y)", "4, 5", "4, 5")
function("pairwise_distance(x, y)", "4, 5", "4, 5")
function("pdist(x)", "4, 5")
function("scaled_dot_product_attention(x, y, z)", "2, 2, 5, 4", "2, 2, 5, 4", "2, 2, 5, 4")
function("scaled_dot_product_attention(x, y, z, is_causal=True)", "2, 2, 5, 4", "2, 2, 5, 4", "2, 2, 5, 4", note="causal")
function("multi_head_attention_forward(x, x, x, 8, 2, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0, "
         "m.out_proj.weight, m.out_proj.bias)", "5, 2, 8", before="m = nn.MultiheadAttention(8, 2)\n", result="out[0]")

# optimizers
for made in ("SGD(net.parameters(), lr=0.1)", "Adam(net.parameters())", "AdamW(net.parameters())", "NAdam(net.parameters())",
             "RAdam(net.parameters())", "Adamax(net.parameters())", "RMSprop(net.parameters())",
             "Adagrad(net.parameters())", "Adadelta(net.parameters())", "LBFGS(net.parameters(), max_iter=3)",
             "ASGD(net.parameters())", "Rprop(net.parameters())", "Adafactor(net.parameters())"):
    optimizer(made)
optimizer("SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)", "momentum")
optimizer("Adam(net.parameters(), amsgrad=True, weight_decay=0.01)", "amsgrad")
optimizer("Adam(net.parameters(), foreach=False)", "one by one")
optimizer("RMSprop(net.parameters(), momentum=0.9, centered=True)", "momentum, centered")
optimizer("LBFGS(net.parameters(), max_iter=6, line_search_fn='strong_wolfe')", "line search")
optimizer("Muon([p for p in net.parameters() if p.ndim == 2])")
ROWS.append(("optim.SparseAdam", HEAD + """i = torch.tensor([1, 2, 0])
net = nn.Embedding(7, 5, sparse=True)
opt = torch.optim.SparseAdam(net.parameters())
for turn in range(3):
    opt.zero_grad()
    net(i).sum().backward()
    opt.step()
"""))

# Of the replay's own names: what is not as PyTorch's, and said to be a stand-in.
STOOD_IN_FOR = {"optim.SparseAdam"}
