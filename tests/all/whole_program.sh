#!/bin/sh
# Built as distributions build, optimised across files: nothing may be found otherwise.
set -u
mkdir -p build/logs
if ! { cmake --preset lto && cmake --build build-lto -j 2 --target graphlint graphlint_tests; } \
	>build/logs/build-lto.log 2>&1; then
	tail -n 20 build/logs/build-lto.log
	echo "0 passed, 1 failed"
	exit 1
fi
passed=0
failed=0
for suite in base torch_api golden fixtures runtime_core runtime_layers replay_programs replay_python; do
	log=build/logs/lto-$suite.log
	if (cd build-lto && ctest -R "^$suite\$" --output-on-failure --no-tests=error) >"$log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		tail -n 40 "$log"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
