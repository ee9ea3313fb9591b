import torch


def _called(func, inputs):
    single = not isinstance(inputs, tuple)
    inputs = tuple([x.detach().requires_grad_() for x in ((inputs,) if single else inputs)])
    return single, inputs, func(*inputs)


def _grads(output, inputs, weights=None, create_graph=False):
    grads = torch.autograd.grad(output, inputs, weights, retain_graph=True, create_graph=create_graph,
                                allow_unused=True)
    return tuple([torch.zeros_like(x) if g is None else g for g, x in zip(grads, inputs)])


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    single, inputs, outputs = _called(func, inputs)
    single_output = not isinstance(outputs, tuple)
    result = []
    for output in (outputs,) if single_output else outputs:
        rows = [_grads(value, inputs, None, create_graph) for value in output.reshape(-1)]
        parts = [torch.stack(column).view(*output.shape, *x.shape) for column, x in zip(zip(*rows), inputs)]
        result.append(parts[0] if single else tuple(parts))
    return result[0] if single_output else tuple(result)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    single, inputs, output = _called(func, inputs)
    firsts = _grads(output, inputs, None, True)
    result = []
    for first, x in zip(firsts, inputs):
        rows = [_grads(value, inputs, None, create_graph) for value in first.reshape(-1)]
        result.append(tuple([torch.stack(column).view(*x.shape, *y.shape) for column, y in zip(zip(*rows), inputs)]))
    return result[0][0] if single else tuple(result)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    single, inputs, output = _called(func, inputs)
    grads = _grads(output, inputs, v, create_graph)
    return output if create_graph else output.detach(), grads[0] if single else grads


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    single, inputs, output = _called(func, inputs)
    firsts = _grads(output, inputs, None, True)
    grads = _grads(firsts, inputs, (v,) if single else v, create_graph)
    return output if create_graph else output.detach(), grads[0] if single else grads


hvp = vhp
