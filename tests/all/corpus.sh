#!/bin/sh
# Real code: the packages of tests/corpus.txt, with one job and with two. No crash,
# no hang, and the same bytes either way; small packages also without a report of
# the sanitizers. Every file lowers to IR that its verifier accepts. Usage: corpus.sh [PACKAGE...]
set -u
python=${PYTHON:-python3}
release=$(pwd)/build/graphlint
sanitized=$(pwd)/build-asan/graphlint
deadline=${GRAPHLINT_DEADLINE:-9999999999}
small=2000 # KiB of Python
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0
failed=0

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(grep -v '^#' tests/corpus.txt)
folder=$("$python" tests/corpus.py "$@") || exit 77
cd "$folder" || exit 77

# lint PROGRAM JOBS PACKAGE: findings or none are fine, and so is a file of the
# package that cannot be read; anything else is ours to answer for.
lint() {
	timeout 900 "$1" check --isolated --no-cache --jobs "$2" --format json "$3" \
		>"$out/$2.json" 2>"$out/$2.err"
	status=$?
	[ "$status" -le 2 ] && ! grep -qE 'internal error|Sanitizer|runtime error' "$out/$2.err"
}

lower() {
	timeout 900 "$release" check --isolated --dump=ir "$1" >/dev/null 2>"$out/ir.err"
	status=$?
	[ "$status" -le 2 ] && ! grep -q 'internal error' "$out/ir.err"
}

kilobytes() {
	find "$1" -name '*.py' -type f -exec cat {} + | wc -c | awk '{ print int($1 / 1024) }'
}

check() {
	first=$release
	[ -x "$sanitized" ] && [ "$(kilobytes "$1")" -le "$small" ] && first=$sanitized
	lint "$first" 1 "$1" && lint "$release" 2 "$1" && cmp -s "$out/1.json" "$out/2.json" && lower "$1"
}

for package; do
	[ -d "$package" ] || continue
	if [ $((deadline - $(date +%s))) -lt 300 ]; then
		echo "no time for $package and what follows"
		break
	fi
	if check "$package"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$package: status $status"
		head -n 20 "$out"/*.err
	fi
done
[ $((passed + failed)) -gt 0 ] || { echo "no package can be had"; exit 77; }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
