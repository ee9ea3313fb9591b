import torch.backends.cudnn as cudnn
import torch.backends.mps as mps
