# bash completion for tutti, tutti-bench, tutti-sgd and tutti-soak. Options and their values are those that --help lists, collectives and
# algorithms those of `tutti list`: nothing here has to change with them.

declare -gA _tutti_said # what a command line has printed in this shell: programs that initialise MPI take a while to say it

# _tutti_output COMMAND...: what it prints, in the variable `output`.
_tutti_output() {
  local key="$*"
  [[ -v _tutti_said["$key"] ]] || _tutti_said["$key"]=$(timeout 5 "$@" 2>/dev/null)
  output=${_tutti_said["$key"]}
}

# _tutti_options HELP: the names of its options, "--ranks" and "-p".
_tutti_options() {
  sed -nE 's/^  (-[a-z]) \[ (--[a-z-]+) \].*/\1\n\2/p; s/^  (--[a-z-]+).*/\1/p' <<<"$1"
}

# _tutti_description HELP OPTION: "NAME what it means: a, b, c [a]", in one line; nothing if there is no such option.
_tutti_description() {
  awk -v option="$2" '
    /^  -/ { sub(/^ +/, ""); gsub(/[][]/, "", $1); inside = 0
             rest = $0
             while (match(rest, /^(-[a-z]|--[a-z-]+|\[|\]) */)) {
               name = substr(rest, 1, RLENGTH); gsub(/ /, "", name); if (name == option) inside = 1
               rest = substr(rest, RLENGTH + 1)
             }
             if (inside) print rest
             next }
    inside' <<<"$1" | tr -s ' \n' ' '
}

# _tutti_choices DESCRIPTION: the names behind its last colon, if all of them are single words.
_tutti_choices() {
  local list=${1%% \[*}
  list=${list% }
  [[ $list == *': '* ]] || return
  list=${list##*: }
  [[ $list == *', '* && ! ${list//, /,} == *' '* ]] && echo "${list//, / }"
}

# _tutti_catalogue PROGRAM [COLLECTIVE]: the collectives that there are, or the algorithms of one; of all for "all".
_tutti_catalogue() {
  local output tool=${1%/*}/tutti
  [ -x "$tool" ] || tool=tutti
  _tutti_output "$tool" list
  awk -v wanted="${2-}" 'NR == 1 || /^ / { next }
    wanted == "" { print $1 }
    wanted != "" && (wanted == "all" || wanted == $1) { print $2 }' <<<"$output" | sort -u
}

# _tutti_given OPTION: its value in the command line so far.
_tutti_given() {
  local i
  for ((i = 1; i + 1 < ${#words[@]}; ++i)); do
    [[ ${words[i]} == "$1" ]] && echo "${words[i + 1]}" && return
  done
}

# _tutti_collective: the one whose algorithms are asked for.
_tutti_collective() {
  local given
  given=$(_tutti_given --collective)
  echo "${given:-allreduce}"
}

# _tutti_value PROGRAM HELP OPTION CURRENT: what may follow the option. Code 1: it takes no value.
_tutti_value() {
  local description
  description=$(_tutti_description "$2" "$3")
  case $description in
    FILE* | FOLDER*) mapfile -t COMPREPLY < <(compgen -f -- "$4") && { compopt -o filenames 2>/dev/null || :; } ;;
    LIST*) # items behind a comma: the ones before it stay
      local before=${4%"${4##*,}"} items
      items="all $(_tutti_choices "$description")"
      [[ $3 != --algorithm ]] || items="auto each $(_tutti_catalogue "$1" "$(_tutti_collective)")"
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "$items" -- "${4##*,}") ;;
    NAME*)
      local choices
      choices=$(_tutti_choices "$description")
      if [[ -z $choices && $3 == --algorithm ]]; then
        choices="auto each $(_tutti_catalogue "$1" "$(_tutti_collective)")"
      fi
      mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$4") ;;
    [A-Z]*) ;; # a number: nothing to offer
    *) return 1 ;;
  esac
}

# _tutti_argument PROGRAM HELP NUMBER CURRENT: the argument without a name at that place, as the line "Usage:" names it.
_tutti_argument() {
  local usage arguments kind
  usage=$(sed -n 's/^Usage: //p' <<<"$2")
  mapfile -t arguments < <(grep -oE '\b[A-Z]+\b(\.\.\.)?' <<<"$usage")
  kind=${arguments[$3]-}
  [[ -n $kind || ${arguments[-1]-} != *... ]] || kind=${arguments[-1]}
  case $kind in
    COLLECTIVE) compgen -W "$(_tutti_catalogue "$1")" -- "$4" ;;
    ALGORITHM*) compgen -W "$(_tutti_catalogue "$1" "$collective")" -- "$4" ;;
    FILE* | OTHER) compgen -f -- "$4" ;;
    COMMAND) compgen -W "$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$2")" -- "$4" ;;
  esac
}

_tutti() {
  local output words=("${COMP_WORDS[@]:0:COMP_CWORD}") current=${COMP_WORDS[COMP_CWORD]} collective= help
  local program=${COMP_WORDS[0]} command=() number=0 i
  COMPREPLY=()
  # The tool's first word is a command, and has options of its own.
  [[ ${program##*/} != tutti || -z ${words[1]-} || ${words[1]} == -* ]] || command=("${words[1]}")
  [[ ${command-} != rules || -z ${words[2]-} || ${words[2]} == -* ]] || command+=("${words[2]}") # which has commands itself
  _tutti_output "$program" "${command[@]}" --help
  help=$output
  for ((i = 1 + ${#command[@]}; i < ${#words[@]}; ++i)); do
    case ${words[i]} in
      -*) [[ -z $(_tutti_description "$help" "${words[i]}" | grep '^[A-Z]') ]] || i=$((i + 1)) ;; # and its value
      *) [ $number -gt 0 ] || collective=${words[i]}
         number=$((number + 1)) ;;
    esac
  done
  if [[ ${command-} == run && $number -gt 0 ]]; then # behind another command
    mapfile -t COMPREPLY < <(compgen -f -- "$current") && { compopt -o filenames 2>/dev/null || :; }
  elif [[ $current != -* && ${words[-1]} == -* ]] && _tutti_value "$program" "$help" "${words[-1]}" "$current"; then
    return
  elif [[ ${command-} == run && $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_tutti_options "$help")" -- "$current")
  elif grep -q '^Usage:.* [][A-Z]*[A-Z]\{3,\}' <<<"$help"; then
    mapfile -t COMPREPLY < <(_tutti_argument "$program" "$help" $number "$current")
  fi
}
complete -F _tutti tutti tutti-bench tutti-sgd tutti-soak
