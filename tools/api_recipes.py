"""Arguments for functions whose signatures no guess meets, and for methods of objects."""

import torch

F = torch.nn.functional


def leaf(*shape):
    return (torch.rand(*shape) * 0.5 + 0.2).requires_grad_()


def recurrent(gates, cell):
    weights = [leaf(gates * 4, 3), leaf(gates * 4, 4), leaf(gates * 4), leaf(gates * 4)]
    if cell:
        state = leaf(2, 4) if gates != 4 else (leaf(2, 4), leaf(2, 4))
        return (leaf(2, 3), state, *weights)
    state = leaf(1, 2, 4) if gates != 4 else (leaf(1, 2, 4), leaf(1, 2, 4))
    return (leaf(5, 2, 3), state, weights, True, 1, 0.0, True, False, False)


def quantized():
    return torch.quantize_per_tensor(torch.rand(2, 3), 0.1, 0, torch.quint8)


def functions():
    """name: argument tuple, or a list of them."""
    index = torch.tensor([0, 2, 1])
    image = leaf(2, 3, 8, 8)
    norm = (leaf(3), leaf(3), torch.zeros(3), torch.ones(3))
    losses = (leaf(3, 3), leaf(3, 3), torch.tensor([1.0, -1.0, 1.0]))
    log_probs = (leaf(5, 2, 4), torch.tensor([[1, 2], [1, 3]]), [5, 5], [2, 2])
    table = {
        "torch.affine_grid_generator": (leaf(2, 2, 3), [2, 3, 4, 4], False),
        "torch.alpha_dropout": [(leaf(3, 3), 0.5, True), (leaf(3, 3), 0.5, False)],
        "torch.alpha_dropout_": (leaf(3, 3), 0.5, True),
        "torch.batch_norm": (image, *norm, True, 0.1, 1e-5, False),
        "torch.can_cast": (torch.float32, torch.float64),
        "torch.conv_tbc": (leaf(5, 2, 3), leaf(3, 3, 4), leaf(4)),
        "torch.convolution": (image, leaf(4, 3, 3, 3), leaf(4), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
        "torch.cosine_embedding_loss": losses,
        "torch.ctc_loss": log_probs,
        "torch.dropout": [(leaf(3, 3), 0.5, True), (leaf(3, 3), 0.5, False)],
        "torch.dropout_": (leaf(3, 3), 0.5, True),
        "torch.embedding": (leaf(5, 3), index),
        "torch.embedding_bag": (leaf(5, 3), index, torch.tensor([0, 2])),
        "torch.fake_quantize_per_tensor_affine": (leaf(3, 3), 0.1, 0, 0, 255),
        "torch.feature_alpha_dropout": (leaf(3, 3), 0.5, True),
        "torch.feature_alpha_dropout_": (leaf(3, 3), 0.5, True),
        "torch.feature_dropout": (image, 0.5, True),
        "torch.feature_dropout_": (image, 0.5, True),
        "torch.grid_sampler": (image, leaf(2, 4, 4, 2), 0, 0, False),
        "torch.gru": recurrent(3, False),
        "torch.gru_cell": recurrent(3, True),
        "torch.histogramdd": (torch.rand(5, 2), [2, 2]),
        "torch.instance_norm": (image, leaf(3), leaf(3), None, None, True, 0.1, 1e-5, False),
        "torch.int_repr": (quantized(),),
        "torch.is_nonzero": (leaf(1),),
        "torch.lstm": recurrent(4, False),
        "torch.lstm_cell": recurrent(4, True),
        "torch.native_channel_shuffle": (leaf(1, 4, 2, 2), 2),
        "torch.native_dropout": (leaf(3, 3), 0.5, True),
        "torch.native_norm": (leaf(3, 3),),
        "torch.nn.functional.affine_grid": (leaf(2, 2, 3), [2, 3, 4, 4]),
        "torch.nn.functional.conv_tbc": (leaf(5, 2, 3), leaf(3, 3, 4), leaf(4)),
        "torch.nn.functional.embedding": (index, leaf(5, 3)),
        "torch.nn.functional.fold": (leaf(1, 12, 9), (4, 4), (2, 2)),
        "torch.nn.functional.fractional_max_pool2d_with_indices": (image, 2, (4, 4)),
        "torch.nn.functional.fractional_max_pool3d_with_indices": (leaf(1, 1, 4, 4, 4), 2, (2, 2, 2)),
        "torch.nn.functional.lp_pool1d": (leaf(2, 3, 8), 2, 2),
        "torch.nn.functional.lp_pool2d": (image, 2, 2),
        "torch.nn.functional.lp_pool3d": (leaf(1, 1, 4, 4, 4), 2, 2),
        "torch.nn.functional.native_channel_shuffle": (leaf(1, 4, 2, 2), 2),
        "torch.poisson_nll_loss": (leaf(3), leaf(3), True, False, 1e-8, 1),
        "torch.polygamma": (1, leaf(3)),
        "torch.q_scale": (quantized(),),
        "torch.q_zero_point": (quantized(),),
        "torch.quantize_per_tensor": (torch.rand(2, 3), 0.1, 0, torch.quint8),
        "torch.rnn_relu": recurrent(1, False),
        "torch.rnn_relu_cell": recurrent(1, True),
        "torch.rnn_tanh": recurrent(1, False),
        "torch.rnn_tanh_cell": recurrent(1, True),
        "torch.segment_reduce": (leaf(5), "sum"),
        "torch.sparse.log_softmax": (leaf(3, 3).to_sparse(), 1),
        "torch.sparse.softmax": (leaf(3, 3).to_sparse(), 1),
        "torch.sparse.sum": (leaf(3, 3).to_sparse(),),
        "torch.special.polygamma": (1, leaf(3)),
        "torch.testing.make_tensor": ((2, 3),),
        "torch.unsafe_split_with_sizes": (leaf(4, 2), [2, 2]),
        "torch.view_as_complex_copy": (leaf(3, 2),),
        "torch.view_as_real_copy": (torch.rand(3, dtype=torch.complex64, requires_grad=True),),
        "torch.nn.parallel.gather": ((leaf(2), leaf(2)), "cpu"),
        "torch.nn.utils.rnn.pad_sequence": ([leaf(2, 3), leaf(4, 3)],),
        "torch.nn.utils.rnn.invert_permutation": (index,),
        "torch.nn.functional.multi_head_attention_forward": None,
    }
    return {name: given for name, given in table.items() if given is not None}


def modules():
    """(module, forward arguments) of classes that PyTorch's samples leave out."""
    nn = torch.nn
    rows, image, cube = leaf(3, 4), leaf(2, 4, 8, 8), leaf(1, 4, 4, 4, 4)
    index = torch.tensor([0, 2, 1])
    layer = nn.TransformerDecoderLayer(4, 2, 8)
    return [
        (nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 4]), (rows, index)),
        (nn.AlphaDropout(), (rows,)),
        (nn.ChannelShuffle(2), (image,)),
        (nn.CosineSimilarity(), (rows, leaf(3, 4))),
        (nn.CrossMapLRN2d(2), (image,)),
        (nn.Dropout(), (rows,)),
        (nn.Dropout1d(), (leaf(2, 3, 4),)),
        (nn.Dropout2d(), (image,)),
        (nn.Dropout3d(), (cube,)),
        (nn.EmbeddingBag(5, 3), (index, torch.tensor([0, 2]))),
        (nn.FeatureAlphaDropout(), (image,)),
        (nn.Flatten(), (image,)),
        (nn.Fold((4, 4), (2, 2)), (leaf(1, 12, 9),)),
        (nn.FractionalMaxPool2d(2, output_size=4), (image,)),
        (nn.FractionalMaxPool2d(2, output_size=4, return_indices=True), (image,)),
        (nn.FractionalMaxPool3d(2, output_size=2), (cube,)),
        (nn.Hardsigmoid(), (rows,)),
        (nn.Identity(), (rows,)),
        (nn.LazyBatchNorm1d(), (rows,)),
        (nn.LazyBatchNorm2d(), (image,)),
        (nn.LazyBatchNorm3d(), (cube,)),
        (nn.LazyInstanceNorm1d(affine=True), (leaf(2, 3, 4),)),
        (nn.LazyInstanceNorm2d(affine=True), (image,)),
        (nn.LazyInstanceNorm3d(affine=True), (cube,)),
        (nn.LazyLinear(2), (rows,)),
        (nn.MaxUnpool1d(2), (leaf(1, 2, 2), torch.tensor([[[0, 2], [1, 3]]]))),
        (nn.MaxUnpool2d(1), (leaf(1, 1, 2, 2), torch.tensor([[[[0, 1], [2, 3]]]]))),
        (nn.MaxUnpool3d(1), (leaf(1, 1, 1, 1, 2), torch.tensor([[[[[0, 1]]]]]))),
        (nn.PairwiseDistance(), (rows, leaf(3, 4))),
        (nn.PixelShuffle(2), (image,)),
        (nn.PixelUnshuffle(2), (image,)),
        (nn.RReLU(), (rows,)),
        (nn.TransformerDecoder(layer, 1), (leaf(2, 2, 4), leaf(2, 2, 4))),
        (nn.TripletMarginLoss(), (rows, leaf(3, 4), leaf(3, 4))),
        (nn.TripletMarginWithDistanceLoss(), (rows, leaf(3, 4), leaf(3, 4))),
        (nn.Unflatten(1, (2, 2)), (rows,)),
        (nn.Unfold(2), (image,)),
        (nn.Upsample(scale_factor=2), (image,)),
        (nn.UpsamplingBilinear2d(scale_factor=2), (image,)),
        (nn.UpsamplingNearest2d(scale_factor=2), (image,)),
    ]


def distributions():
    """A distribution of each class, with parameters that require grad."""
    d = torch.distributions
    normal = d.Normal(leaf(3), leaf(3))
    return [
        d.Bernoulli(leaf(3)),
        d.Beta(leaf(3), leaf(3)),
        d.Binomial(4, leaf(3)),
        d.Categorical(leaf(3)),
        d.Cauchy(leaf(3), leaf(3)),
        d.Chi2(leaf(3)),
        d.ContinuousBernoulli(leaf(3)),
        d.Dirichlet(leaf(3)),
        d.Exponential(leaf(3)),
        d.FisherSnedecor(leaf(3), leaf(3)),
        d.Gamma(leaf(3), leaf(3)),
        d.GeneralizedPareto(leaf(3), leaf(3), leaf(3)),
        d.Geometric(leaf(3)),
        d.Gumbel(leaf(3), leaf(3)),
        d.HalfCauchy(leaf(3)),
        d.HalfNormal(leaf(3)),
        d.Independent(normal, 1),
        d.InverseGamma(leaf(3), leaf(3)),
        d.Kumaraswamy(leaf(3), leaf(3)),
        d.LKJCholesky(3, leaf(1)),
        d.Laplace(leaf(3), leaf(3)),
        d.LogNormal(leaf(3), leaf(3)),
        d.LogisticNormal(leaf(3), leaf(3)),
        d.LowRankMultivariateNormal(leaf(3), leaf(3, 1), leaf(3)),
        d.MixtureSameFamily(d.Categorical(leaf(3)), normal),
        d.Multinomial(4, leaf(3)),
        d.MultivariateNormal(leaf(3), torch.eye(3).requires_grad_()),
        d.NegativeBinomial(4, leaf(3)),
        normal,
        d.OneHotCategorical(leaf(3)),
        d.OneHotCategoricalStraightThrough(leaf(3)),
        d.Pareto(leaf(3), leaf(3)),
        d.Poisson(leaf(3)),
        d.RelaxedBernoulli(leaf(1), leaf(3)),
        d.RelaxedOneHotCategorical(leaf(1), leaf(3)),
        d.StudentT(leaf(3)),
        d.TransformedDistribution(normal, [d.ExpTransform()]),
        d.Uniform(leaf(3), leaf(3) + 1),
        d.VonMises(leaf(3), leaf(3)),
        d.Weibull(leaf(3), leaf(3)),
        d.Wishart(leaf(1) + 4, torch.eye(3).requires_grad_()),
    ]


# Methods without arguments, methods of a sample, and attributes.
DISTRIBUTION_METHODS = ("sample", "rsample", "entropy", "enumerate_support", "perplexity")
DISTRIBUTION_OF_VALUE = ("log_prob", "cdf", "icdf")
DISTRIBUTION_ATTRIBUTES = ("mean", "mode", "stddev", "variance", "probs", "logits", "loc", "scale")
