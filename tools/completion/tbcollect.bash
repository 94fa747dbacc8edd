# Completion for bash of tbcollect, tbreport and tbconvert. What there is to complete comes from --help: nothing is listed twice.

# The options in a help text.
_tbcollect_options() {
	grep -oE '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,'
}

# The choices of an option: a|b|c behind its name, and in the lines below.
_tbcollect_choices() {
	awk -v option="$1" '
		(at = index($0, option " ")) && !is_open { is_open = 1; $0 = " " substr($0, at + length(option)) }
		is_open {
			if (!match($0, /^ +[a-z0-9-]+(\|[a-z0-9-]+)+/)) exit
			list = substr($0, RSTART, RLENGTH); gsub(/ /, "", list); gsub(/\|/, "\n", list); print list
		}'
}

# The names in a section of a help text: its lines two columns in.
_tbcollect_section() {
	awk -v title="$1" '
		$0 == title { is_open = 1; next }
		is_open && /^$/ { exit }
		is_open && /^  [^ ]/ { print $1 == "tbconvert" ? $2 : $1 }'
}

_tbcollect() {
	local command=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} help words=''
	if [[ $word == '=' ]]; then
		word=''
	elif [[ $before == '=' ]]; then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if [[ ${command##*/} == tbconvert && $COMP_CWORD -gt 1 ]]; then
		help=$("$command" "${COMP_WORDS[1]}" --help 2>/dev/null </dev/null)
	else
		help=$("$command" --help 2>/dev/null </dev/null)
	fi
	if [[ $before == --to && ${command##*/} == tbconvert ]]; then
		words=$(_tbcollect_section 'Formats:' <<<"$help")
	elif [[ $before == --?* ]]; then
		words=$(_tbcollect_choices "$before" <<<"$help")
	fi
	if [[ -z $words && $word == -* ]]; then
		words=$(_tbcollect_options <<<"$help")
	elif [[ -z $words && ${command##*/} == tbreport && $COMP_CWORD -eq 1 ]]; then
		words=$(_tbcollect_section 'Reports:' <<<"$help")
	elif [[ -z $words && ${command##*/} == tbconvert && $COMP_CWORD -eq 1 ]]; then
		words=$(_tbcollect_section 'Commands:' <<<"$help")
	fi
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}

# Files where nothing else fits: a result, a program.
complete -o default -F _tbcollect tbcollect tbreport tbconvert
