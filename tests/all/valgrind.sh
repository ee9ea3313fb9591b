#!/bin/sh
# Every suite of the runtime under valgrind's memcheck: no bad access, nothing read
# before it is written, nothing leaked. Usage: valgrind.sh [SUITE...]
set -u
command -v valgrind >/dev/null 2>&1 || { echo "valgrind is not installed"; exit 77; }
mkdir -p build/logs
if ! { cmake --preset valgrind && cmake --build build-valgrind -j 2 --target graphlint_tests; } \
	>build/logs/build-valgrind.log 2>&1; then
	tail -n 20 build/logs/build-valgrind.log
	echo "0 passed, 1 failed"
	exit 1
fi
# valgrind is some thirty times slower: a shorter chain is taken apart, fewer programs run.
CK_FORK=no
GRAPHLINT_CHAIN_NODES=20000
GRAPHLINT_MODEL_PROGRAMS=60
export CK_FORK GRAPHLINT_CHAIN_NODES GRAPHLINT_MODEL_PROGRAMS
[ $# -gt 0 ] || set -- runtime_core runtime_graph runtime_hooks runtime_accounts runtime_layers \
	runtime_facts runtime_programs runtime_model random init caching_allocator ops_recorded
passed=0
failed=0
for suite; do
	log=build/logs/valgrind-$suite.log
	if valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
		--error-exitcode=9 build-valgrind/graphlint_tests "$suite" >"$log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		tail -n 60 "$log"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
