#!/bin/sh
# Every suite of the runtime under valgrind's memcheck: no bad access, nothing read
# before it is written, nothing leaked. Usage: valgrind.sh [SUITE...]
set -u
command -v valgrind >/dev/null 2>&1 || { echo "valgrind is not installed"; exit 77; }
mkdir -p build/logs
if ! { cmake --preset valgrind && cmake --build build-valgrind -j 2 --target graphlint_tests train memory_facts; } \
	>build/logs/build-valgrind.log 2>&1; then
	tail -n 20 build/logs/build-valgrind.log
	echo "0 passed, 1 failed"
	exit 1
fi
# valgrind is some thirty times slower: a shorter chain is taken apart.
CK_FORK=no
GRAPHLINT_CHAIN_NODES=20000
export CK_FORK GRAPHLINT_CHAIN_NODES
[ $# -gt 0 ] || set -- runtime_core runtime_graph runtime_facts runtime_hooks runtime_accounts runtime_layers \
	runtime_programs runtime_autocast runtime_model random init caching_allocator ops_recorded
passed=0
failed=0

# check NAME COMMAND...
check() {
	log=build/logs/valgrind-$1.log
	shift
	if valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
		--error-exitcode=9 "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		tail -n 60 "$log"
	fi
}

for suite; do
	check "$suite" build-valgrind/graphlint_tests "$suite"
done
check train build-valgrind/train
check memory_facts build-valgrind/memory_facts
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
