# Completion for fish of tbcollect, tbreport and tbconvert. What there is to complete comes from --help: nothing is listed twice.

# The help that fits the command line: of a command of tbconvert, its own.
function __tbcollect_help
    set -l words (commandline -opc)
    if test (basename $words[1]) = tbconvert; and test (count $words) -gt 1
        $words[1] $words[2] --help 2>/dev/null </dev/null
    else
        $words[1] --help 2>/dev/null </dev/null
    end
end

# The names in a section of a help text: its lines two columns in.
function __tbcollect_section
    __tbcollect_help | awk -v title="$argv[1]" '
        $0 == title { is_open = 1; next }
        is_open && /^$/ { exit }
        is_open && /^  [^ ]/ { print $1 == "tbconvert" ? $2 : $1 }'
end

# The choices of an option: a|b|c behind its name, and in the lines below.
function __tbcollect_choices
    __tbcollect_help | awk -v option="$argv[1]" '
        (at = index($0, option " ")) && !is_open { is_open = 1; $0 = " " substr($0, at + length(option)) }
        is_open {
            if (!match($0, /^ +[a-z0-9-]+(\|[a-z0-9-]+)+/)) exit
            list = substr($0, RSTART, RLENGTH); gsub(/ /, "", list); gsub(/\|/, "\n", list); print list
        }'
end

function __tbcollect_words
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l before $words[-1]
    set -l prefix ''
    if string match -q -- '--*=*' $word
        set before (string replace -r '=.*' '' -- $word)
        set prefix "$before="
    end
    set -l found
    if test "$before" = --to; and test (basename $words[1]) = tbconvert
        set found (__tbcollect_section Formats:)
    else if string match -q -- '--?*' $before
        set found (__tbcollect_choices $before)
    end
    if test (count $found) -eq 0; and string match -q -- '-*' $word
        set found (__tbcollect_help | grep -oE '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,')
    else if test (count $found) -eq 0; and test (basename $words[1]) = tbreport; and test (count $words) -eq 1
        set found (__tbcollect_section Reports:)
    else if test (count $found) -eq 0; and test (basename $words[1]) = tbconvert; and test (count $words) -eq 1
        set found (__tbcollect_section Commands:)
    end
    for one in $found
        echo $prefix$one
    end
end

for name in tbcollect tbreport tbconvert
    complete -c $name -a '(__tbcollect_words)'
end
