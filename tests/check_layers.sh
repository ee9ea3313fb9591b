#!/bin/sh
# An include may only point up the list of layers (the runtime is used by replay
# alone, and includes nothing of ours). Usage: check_layers.sh ROOT
set -eu
cd "$1"
layers='runtime analyzer/base analyzer/source analyzer/ir analyzer/torch analyzer/front
	analyzer/project analyzer/flow analyzer/facts analyzer/finding rules analyzer/replay
	analyzer/fix analyzer/report analyzer/engine analyzer/app'

folders=
for folder in runtime analyzer rules; do
	[ -d "$folder" ] && folders="$folders $folder"
done

# shellcheck disable=SC2086
find $folders -name '*.[ch]' | sort | xargs grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
awk -v layers="$layers" '
	function layer_of(path,   i) {
		for (i = 1; i <= count; i++)
			if (index(path, name[i] "/") == 1)
				return i
		return 0
	}
	BEGIN {
		count = split(layers, name)
		replay = layer_of("analyzer/replay/")
	}
	{
		file = substr($0, 1, index($0, ":") - 1)
		split($0, part, "\"")
		header = part[2]
		from = layer_of(file)
		to = layer_of(header)
		if (!from)
			wrong = "is in no layer"
		else if (!to)
			wrong = "must name " header " from the root"
		else if (to > from)
			wrong = "must not include " header " of a layer below"
		else if (to == 1 && from != 1 && from != replay)
			wrong = "must not include " header ": only replay uses the runtime"
		else
			next
		print file " " wrong
		failed = 1
	}
	END { exit failed }
' >&2

# The runtime stands alone, and its header is all that a program needs.
if grep '^#include "' runtime/examples/*.c | grep -v '"runtime/ag.h"$' >&2; then
	exit 1
fi

# Headers must not include each other in a circle.
# shellcheck disable=SC2086
find $folders -name '*.h' | sort | xargs grep -H '^#include "' |
sed 's/:#include "\(.*\)".*/ \1/' | tsort >/dev/null
