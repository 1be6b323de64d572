# bash completion for afar(1). Asks afar itself for its verbs and options, so that it is never behind.

_afar_options() { afar help "$1" 2>/dev/null | grep -oE -- '(^|[ ,])--?[a-zA-Z][a-z-]*' | tr -d ' ,'; }

_afar() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)) || [[ $before == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(afar help 2>/dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')" -- "$word")
    return
  fi
  case $before in
    --on-lost) mapfile -t COMPREPLY < <(compgen -W "kill warn" -- "$word"); return ;;
    --url-file) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_afar_options "$verb")" -- "$word")
  elif [[ $verb == run || $verb == elect ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$word")
  fi
}

complete -o default -F _afar afar
