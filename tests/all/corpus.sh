#!/bin/sh
# Real code: every package of tests/corpus.txt under the sanitizers, with one job
# and with two. No crash, no hang, no report, and the same bytes either way.
set -u
python=${PYTHON:-python3}
folder=$("$python" tests/corpus.py) || exit 77
program=build-asan/graphlint
[ -x "$program" ] || program=build/graphlint
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0
failed=0

# lint JOBS PACKAGE: status 0 or 1 are findings, anything else is ours to answer for
lint() {
	(cd "$folder" && timeout 600 "$OLDPWD/$program" check --isolated --no-cache --jobs "$1" \
		--format json "$2") >"$out/$1.json" 2>"$out/$1.err"
	status=$?
	[ "$status" -le 1 ] && return 0
	# An unreadable file in a package is the package's, not ours.
	[ "$status" = 2 ] && ! grep -qE 'internal error|Sanitizer|runtime error' "$out/$1.err"
}

for package in "$folder"/*/; do
	name=$(basename "$package")
	if lint 1 "$name" && lint 2 "$name" && cmp -s "$out/1.json" "$out/2.json"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$name: status $status"
		head -n 20 "$out"/*.err
	fi
done
[ $((passed + failed)) -gt 0 ] || { echo "no package can be had"; exit 77; }
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
