#!/bin/sh
# The manual page as its readers' programs see it, completions in real shells. Says
# which it could not run; exit status 77: none of them.
set -u
graphlint=${GRAPHLINT:-$(pwd)/build/graphlint}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH=$(dirname "$graphlint"):$PATH
passed=0
failed=0
missing=

have() {
	command -v "$1" >/dev/null 2>&1 && return 0
	missing="$missing $1"
	return 1
}

# check NAME COMMAND...: it succeeds and says nothing
check() {
	name=$1
	shift
	if "$@" >"$folder/out" 2>&1 && [ ! -s "$folder/out" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$name:"
		head -n 20 "$folder/out"
	fi
}

# offers NAME TEXT WORD...: what a shell offers after TEXT has each word
offers() {
	shell=$1
	text=$2
	shift 2
	"complete_$shell" "$text" >"$folder/offered" 2>&1
	for word; do
		if grep -qwF -e "$word" "$folder/offered"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "$shell: \`$text\` does not offer $word but:"
			head -n 20 "$folder/offered"
		fi
	done
}

complete_bash() {
	bash --norc -c '
		source "$1" || exit
		read -ra COMP_WORDS <<<"$2"
		[[ $2 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_graphlint && printf "%s\n" "${COMPREPLY[@]}"' bash "$folder/bash" "$1"
}

complete_fish() {
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$folder/fish" "$1"
}

# zsh completes only at a prompt: one is made, and a tab is typed into it.
complete_zsh() {
	mkdir -p "$folder/site"
	cp "$folder/zsh" "$folder/site/_graphlint"
	zsh -f -c '
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $1/dump"
		zpty -w shell "zstyle \":completion:*\" list-prompt \"\"; LISTMAX=0; stty cols 200 rows 200; print ready"
		zpty -m -r shell out "*ready*ready*"
		zpty -w -n shell "$2"$'"'\t\t'"'
		sleep 2
		while zpty -r -t shell out; do print -rn -- "$out"; done
		zpty -d shell' zsh "$folder/site" "$1" |
		sed "s/$(printf '\033')\[[0-9;?]*[a-zA-Z]/ /g" | tr '\r' '\n'
}

check_shell() {
	offers "$1" "graphlint --form" --format
	offers "$1" "graphlint check --output-f" --output-file
	offers "$1" "graphlint --format " sarif junit azure
	offers "$1" "graphlint replay --ass" --assert
	offers "$1" "graphlint re" replay
}

"$graphlint" manual >"$folder/graphlint.1" || exit 1
have mandoc && check mandoc mandoc -Tlint "$folder/graphlint.1"
have groff && check groff groff -ww -man -z "$folder/graphlint.1"
for shell in bash zsh fish; do
	"$graphlint" completion "$shell" >"$folder/$shell" || exit 1
	have "$shell" || continue
	check "$shell -n" "$shell" -n "$folder/$shell"
	check_shell "$shell"
done
[ -z "$missing" ] || echo "not run, for it is not there:$missing"
[ "$passed" -gt 0 ] || exit 77
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
