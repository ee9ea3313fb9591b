#!/bin/sh
# Functions that cannot be used safely, or read a number without saying when it
# is none; the environment and the standard streams outside of the program's own
# layer. Usage: check_banned.sh ROOT
set -eu
cd "$1"
banned='strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|strtok|alloca|stpcpy'
folders=
for folder in analyzer rules runtime tests; do
	[ -d "$folder" ] && folders="$folders $folder"
done
# shellcheck disable=SC2086
if grep -rnE --include='*.[ch]' --include='*.def' "(^|[^A-Za-z0-9_.>])($banned)[[:space:]]*\(" $folders >&2; then
	echo "these functions are banned: $banned" >&2
	exit 1
fi
# What ends the process tells why.
if grep -rnE --include='*.[ch]' '(^|[^A-Za-z0-9_.>"])(getenv[[:space:]]*\(|stderr([^A-Za-z0-9_"]|$))' analyzer rules |
	grep -vE '^analyzer/(app/|base/bug\.c)' >&2; then
	echo "only analyzer/app asks the environment and writes to standard error" >&2
	exit 1
fi
