import _support
import _torch
import torch


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias,
                                 bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias,
                                 training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
                                 use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None,
                                 v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True,
                                 is_causal=False):
    if static_k is not None or static_v is not None:
        _support.unknown("multi_head_attention_forward with static keys")
    if use_separate_proj_weight:
        in_proj_weight = [q_proj_weight, k_proj_weight, v_proj_weight]
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    made = _torch.op("F.multi_head_attention_forward", (
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training, key_padding_mask, need_weights, attn_mask),
        {"average_attn_weights": average_attn_weights, "is_causal": is_causal and attn_mask is None})
    return made if isinstance(made, tuple) else (made, None)


def _canonical_mask(mask, dtype):
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, -torch.inf)


def sigmoid(input):
    return torch.sigmoid(input)


def tanh(input):
    return torch.tanh(input)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    return torch.cosine_similarity(x1, x2, dim, eps)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    gumbels = -torch.empty_like(logits).exponential_().log()
    gumbels = (logits + gumbels) / tau
    y_soft = gumbels.softmax(dim)
    if hard:
        index = y_soft.max(dim, keepdim=True)[1]
        y_hard = torch.zeros_like(logits).scatter_(dim, index, 1.0)
        return y_hard - y_soft.detach() + y_soft
    return y_soft


def _pair(n, value):
    return value if isinstance(value, (tuple, list)) else (value,) * n


def _root_of_powers(mean, count, norm_type):
    return (torch.sign(mean) * torch.nn.functional.relu(torch.abs(mean))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    mean = torch.nn.functional.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _root_of_powers(mean, _pair(1, kernel_size)[0], norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    height, width = _pair(2, kernel_size)
    mean = torch.nn.functional.avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _root_of_powers(mean, height * width, norm_type)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    depth, height, width = _pair(3, kernel_size)
    mean = torch.nn.functional.avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _root_of_powers(mean, depth * height * width, norm_type)


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    F = torch.nn.functional
    if input.numel() == 0:
        return input
    div = input.mul(input)
    if input.dim() == 3:
        div = F.pad(div.unsqueeze(1), (0, 0, size // 2, (size - 1) // 2))
        div = F.avg_pool2d(div, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        div = div.view(sizes[0], 1, sizes[1], sizes[2], -1)
        div = F.pad(div, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        div = F.avg_pool3d(div, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / div.mul(alpha).add(k).pow(beta)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean",
                         ignore_index=None, label_smoothing=0.0, options=None):
    F = torch.nn.functional
    if options is not None:
        _support.unknown("torch.nn.LinearCrossEntropyOptions")
    classes, features = linear_weight.shape[0], linear_weight.shape[-1]
    inner = linear_weight.shape[1:-1]
    if inner:
        linear_weight = linear_weight.reshape((-1, features))
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = F.linear(input, linear_weight, linear_bias).reshape((*input.shape[:-1], classes, *inner))
    return F.cross_entropy(logits, target, weight=weight, reduction=reduction,
                           ignore_index=-100 if ignore_index is None else ignore_index,
                           label_smoothing=label_smoothing)


def _reduced(loss, reduction):
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    distance = torch.nn.functional.pairwise_distance if distance_function is None else distance_function
    far = distance(anchor, negative)
    near = distance(anchor, positive)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduced(torch.clamp_min(margin + near - far, 0), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    F = torch.nn.functional
    loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.sum(dim=input.dim() - 1) / input.size(input.dim() - 1), reduction)


def upsample_nearest(input, size=None, scale_factor=None):
    return torch.nn.functional.interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    return torch.nn.functional.interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
