import copy
import torch
import torch.nn


class AveragedModel(torch.nn.Module):
    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long))
        self.avg_fn = avg_fn

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        with torch.no_grad():
            for p_averaged, p_model in zip(self.module.parameters(), model.parameters()):
                if self.n_averaged == 0:
                    p_averaged.copy_(p_model)
                elif self.avg_fn is not None:
                    p_averaged.copy_(self.avg_fn(p_averaged, p_model, self.n_averaged))
                else:
                    p_averaged.add_((p_model - p_averaged) / (float(self.n_averaged) + 1))
            self.n_averaged += 1
