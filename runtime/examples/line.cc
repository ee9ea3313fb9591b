/* The same library from C++: a line is fitted, and the program fails when it is not. */
#include "runtime/ag.h"
#include <cstdio>

int main()
{
	ag_ctx *ctx = ag_open(nullptr);
	ag_value sizes[2] = {ag_int(3), ag_int(1)};
	ag_args args = {sizes, 2, nullptr, 0};
	ag_module *net = ag_module_new(ctx, "Linear", &args);
	int64_t shape[2] = {8, 3}, target[2] = {8, 1};
	ag_tensor *params[2] = {ag_module_tensor(net, "weight"), ag_module_tensor(net, "bias")};
	ag_keyword lr = {"lr", ag_float(0.1)};
	ag_args settings = {nullptr, 0, &lr, 1};
	ag_optim *opt = ag_optim_new(ctx, "SGD", params, 2, &settings);
	ag_tensor *x = ag_randn(ctx, 2, shape), *y = ag_zeros(ctx, 2, target);
	double first = 0, last = 0;

	for (int step = 0; step < 100; step++) {
		ag_tensor *out = ag_module_forward(ctx, net, x);
		ag_tensor *loss = ag_mse_loss(ctx, out, y);

		if (!ag_optim_zero_grad(ctx, opt, true) || !ag_backward(ctx, loss, nullptr, 0) ||
		    !ag_optim_step(ctx, opt) || !ag_item(ctx, loss, step ? &last : &first))
			std::printf("%s\n", ag_error(ctx)->text);
		ag_release(out);
		ag_release(loss);
	}
	std::printf("%g -> %g\n", first, last);
	ag_release(x);
	ag_release(y);
	ag_optim_release(opt);
	ag_module_release(net);
	ag_close(ctx);
	return !(last < first / 100);
}
