#!/bin/sh
# Functions that cannot be used safely, or read a number without saying when it
# is none. Usage: check_banned.sh ROOT
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
