#!/bin/sh
# Every fuzz target for a while, from the damaged fixtures; what it finds is kept
# in build-fuzz/found. GRAPHLINT_FUZZ_SECONDS sets how long (default 60 each).
set -u
if ! { cmake --preset fuzz && cmake --build build-fuzz -j 2; } >build/logs/build-fuzz.log 2>&1; then
	tail -n 20 build/logs/build-fuzz.log
	echo "0 passed, 1 failed"
	exit 1
fi
passed=0
failed=0
for source in tests/fuzz_*.c; do
	target=$(basename "$source" .c)
	mkdir -p "build-fuzz/corpus/$target" build-fuzz/found
	seeds=fixtures/broken
	[ ! -d "fixtures/corpus/$target" ] || seeds="$seeds fixtures/corpus/$target"
	# shellcheck disable=SC2086
	if "build-fuzz/$target" -max_total_time="${GRAPHLINT_FUZZ_SECONDS:-60}" -timeout=10 \
		-rss_limit_mb=4096 -max_len=20000 -artifact_prefix=build-fuzz/found/ \
		"build-fuzz/corpus/$target" $seeds >"build-fuzz/$target.log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		tail -n 40 "build-fuzz/$target.log"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
