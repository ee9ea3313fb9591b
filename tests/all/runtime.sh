#!/bin/sh
# The runtime for longer than the tests of every change have: random programs against
# the slow model, a part of the time under the sanitizers, and a chain of ten million
# nodes. GRAPHLINT_MODEL_SECONDS sets how long the programs run (default 60).
set -u
seconds=${GRAPHLINT_MODEL_SECONDS:-60}
passed=0
failed=0

# run NAME COMMAND...
run() {
	name=$1
	shift
	if "$@" >"build/logs/runtime-$name.log" 2>&1; then
		passed=$((passed + 1))
		grep ' programs$' "build/logs/runtime-$name.log"
	else
		failed=$((failed + 1))
		echo "$name:"
		tail -n 80 "build/logs/runtime-$name.log"
	fi
}

build() {
	{ cmake --preset "$1" -DGRAPHLINT_TESTS=ON && cmake --build "$2" -j 2 --target graphlint_tests; } \
		>"build/logs/build-runtime.log" 2>&1 && return 0
	tail -n 20 build/logs/build-runtime.log
	echo "0 passed, 1 failed"
	exit 1
}

# The library alone: from C under two standards, and from C++ where there is a compiler.
alone() {
	folder=$(mktemp -d)
	strict="-Wall -Wextra -Wpedantic -Werror -I."
	status=0
	for standard in c11 c17; do
		# shellcheck disable=SC2086
		"${CC:-cc}" -std=$standard $strict runtime/examples/train.c build/libgraphlint_runtime.a \
			-lm -o "$folder/train" && "$folder/train" || status=1
	done
	if command -v "${CXX:-c++}" >/dev/null 2>&1; then
		# shellcheck disable=SC2086
		"${CXX:-c++}" -std=c++11 $strict runtime/examples/line.cc \
			build/libgraphlint_runtime.a -o "$folder/line" && "$folder/line" || status=1
	fi
	rm -rf "$folder"
	return $status
}

mkdir -p build/logs
build release build
build asan build-asan
CK_FORK=no
export CK_FORK
run alone alone
run chain env GRAPHLINT_CHAIN_NODES=10000000 build/graphlint_tests runtime_graph
run model env GRAPHLINT_MODEL_SECONDS="$seconds" build/graphlint_tests runtime_model
run model-sanitized env GRAPHLINT_MODEL_SECONDS="$((seconds / 2))" build-asan/graphlint_tests runtime_model
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
