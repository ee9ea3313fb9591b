#!/bin/sh
# The cache on a real tree: the same output with it and without after each of 200
# random edits. GRAPHLINT_EDITS and GRAPHLINT_EDIT_SEED say how many and which.
set -u
python=${PYTHON:-python3}
package=${GRAPHLINT_EDIT_PACKAGE:-pytorch-metric-learning}
folder=$("$python" tests/corpus.py "$package") || exit 77
if [ ! -d "$folder/$package" ]; then
	echo "$package cannot be had"
	exit 77
fi
"$python" tests/cache_edits.py build/graphlint "$folder/$package" "${GRAPHLINT_EDITS:-200}" \
	"${GRAPHLINT_EDIT_SEED:-1}"
