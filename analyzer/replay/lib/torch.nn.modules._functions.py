import torch
from torch.autograd import Function


class BackwardHookFunction(Function):
    @staticmethod
    def forward(ctx, watch, is_input, places, width, *tensors):
        ctx.watch, ctx.is_input, ctx.places, ctx.width = watch, is_input, places, width
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        whole = [None] * ctx.width
        for i, grad in zip(ctx.places, grads):
            whole[i] = grad
        run = ctx.watch.of_inputs if ctx.is_input else ctx.watch.of_outputs
        whole = run(tuple(whole))
        return (None, None, None, None, *[whole[i] for i in ctx.places])


# Sums over windows of channels, kept while the window moves: one that begins late leaves its first channel in them.
class CrossMapLRN2d(Function):
    @staticmethod
    def forward(ctx, input, size, alpha=0.0001, beta=0.75, k=1):
        ctx.size, ctx.alpha, ctx.beta = size, alpha, beta
        if input.dim() != 4:
            raise ValueError("CrossMapLRN2d: Expected input to be 4D, got %dD instead." % input.dim())
        channels, reach = input.size(1), int((size - 1) / 2 + 1)
        output = input.pow(2)
        scale = ctx.scale = torch.empty_like(output)
        scale[:, 0].zero_()
        for c in range(min(reach, channels)):
            scale[:, 0].add_(output[:, c])
        for c in range(1, channels):
            scale[:, c].copy_(scale[:, c - 1])
            if c + reach <= channels:
                scale[:, c].add_(output[:, c + reach - 1])
            if c > reach:
                scale[:, c].sub_(output[:, c - reach])
        scale.mul_(alpha / size).add_(k)
        output.copy_(scale).pow_(-beta).mul_(input)
        ctx.save_for_backward(input, output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, output = ctx.saved_tensors
        channels, before = input.size(1), int(ctx.size - (ctx.size - 1) / 2)
        grad_input = ctx.scale.pow(-ctx.beta).mul_(grad_output)
        padded = input.new_zeros(channels + ctx.size - 1, *input.shape[2:])
        ratio = padded.narrow(0, before, channels)
        for n in range(input.size(0)):
            ratio.copy_(grad_output[n]).mul_(output[n]).div_(ctx.scale[n])
            window = padded[:ctx.size - 1].sum(0)
            for c in range(channels):
                window.add_(padded[c + ctx.size - 1])
                grad_input[n, c].addcmul_(input[n, c], window, value=-2 * ctx.alpha * ctx.beta / ctx.size)
                window.sub_(padded[c])
            del window
        return grad_input, None, None, None, None
