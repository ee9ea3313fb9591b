#!/bin/sh
# SARIF as the reference validator sees it: of a small program, of every fixture, of
# nothing, and of a file that cannot be read. Needs npm. One warning is let pass: the driver
# names no informationUri (SARIF2005), as the project has no public page to name.
set -u
version=5.7.0
graphlint=${GRAPHLINT:-$(pwd)/build/graphlint}
tool=$(pwd)/build/npm/node_modules/.bin/sarif-multitool
if [ ! -x "$tool" ]; then
	command -v npm >/dev/null 2>&1 || {
		echo "there is no npm"
		exit 77
	}
	mkdir -p build/npm
	npm install --prefix build/npm --no-audit --no-fund --silent "@microsoft/sarif-multitool@$version" </dev/null || {
		echo "@microsoft/sarif-multitool cannot be had"
		exit 77
	}
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# complaints FILE
complaints() {
	grep -E ': (error|warning) ' "$1" | grep -v "SARIF2005: .* does not provide 'informationUri'"
}

# valid NAME GRAPHLINT-ARGUMENT...
valid() {
	name=$1
	shift
	"$graphlint" --isolated --no-cache --format sarif --output-file "$folder/$name.sarif" "$@" 2>/dev/null
	"$tool" validate "$folder/$name.sarif" >"$folder/$name.txt" 2>&1
	if complaints "$folder/$name.txt" >"$folder/complaints"; then
		failed=$((failed + 1))
		echo "$name:"
		head -n 20 "$folder/complaints"
	elif ! grep -q 'completed successfully' "$folder/$name.txt"; then
		failed=$((failed + 1))
		echo "$name: the validator gave up:"
		tail -n 20 "$folder/$name.txt"
	else
		passed=$((passed + 1))
	fi
}

printf 'x = 1\n' >"$folder/clean.py"
valid clean "$folder/clean.py"
valid tour fixtures/tour
valid fixtures --select ALL fixtures
valid missing "$folder/missing.py" "$folder/clean.py"
valid broken fixtures/broken
# A report that is none must not pass.
echo '{"version": "2.1.0", "runs": [{}]}' >"$folder/wrong.sarif"
"$tool" validate "$folder/wrong.sarif" >"$folder/wrong.txt" 2>&1
if complaints "$folder/wrong.txt" >/dev/null; then
	passed=$((passed + 1))
else
	failed=$((failed + 1))
	echo "the validator accepts anything"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
