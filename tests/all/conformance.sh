#!/bin/sh
# What programs keep and print under the replay and under real PyTorch.
# Usage: conformance.sh [FILE or FOLDER...]
set -u
python=${PYTHON:-python3}
"$python" -c 'import torch' 2>/dev/null || { echo "there is no PyTorch"; exit 77; }
"$python" tools/conformance.py "$@"
