#!/bin/sh
# What fixtures/runtime/ and fixtures/replay/ have recorded is what PyTorch does now; under another version
# than the recorded one there is nothing to compare.
set -u
python=${PYTHON:-python3}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$python" tools/record_runtime.py --check >"$out" 2>build/logs/recorded.err
status=$?
"$python" tools/record_replay.py --check >>"$out" 2>>build/logs/recorded.err || status=1
cat "$out"
if [ "$status" != 0 ]; then
	tail -n 20 build/logs/recorded.err
	echo "$(grep -c ': as recorded$' "$out") passed, $(grep -c ': differs' "$out") failed"
	exit 1
fi
same=$(grep -c ': as recorded$' "$out")
[ "$same" -gt 0 ] || exit 77
echo "$same passed, 0 failed"
