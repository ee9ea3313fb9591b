#!/bin/sh
# No module of the replay's library defines a name twice: the first would be dead.
# Usage: check_library.sh ROOT
set -eu
cd "$1/analyzer/replay/lib"
awk '
	/^(def|class) / {
		name = $2
		sub(/[(:].*/, "", name)
		if (seen[FILENAME, name]++) {
			print FILENAME ":" FNR ": " name " is defined again"
			failed = 1
		}
	}
	END { exit failed }
' ./*.py >&2
