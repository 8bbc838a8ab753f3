//! The scripts that shells load. Each asks `pvm complete` and shows what comes back.

/// The file names, and what stands in them.
pub(crate) const ALL: [(&str, &str); 3] = [("pvm.bash", BASH), ("_pvm", ZSH), ("pvm.fish", FISH)];

const BASH: &str = r#"# bash completion for pvm
_pvm() {
  local program=${COMP_WORDS[0]/#\~\//$HOME/} current=${COMP_WORDS[COMP_CWORD]} line kind=
  [[ $current == [=@:] ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("$program" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  local action=
  case $kind in
  files) action=file ;;
  programs) action=command ;;
  *) return ;;
  esac
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(
    compgen -A "$action" -- "$current"
    [[ $action == command ]] && compgen -A file -- "$current"
  )
}
complete -F _pvm pvm
"#;

const ZSH: &str = r#"#compdef pvm
# zsh completion for pvm
_pvm() {
  local -a lines candidates
  local line
  lines=("${(@f)$(${~words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${(@)lines[2,-1]}"; do
    candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  # What stands in front of the value of `--host=value` stays.
  compset -P '--[a-z]##=' || compset -P '*@'
  (( $#candidates )) && _describe -V 'pvm' candidates
  case $lines[1] in
  files) _files ;;
  programs) _alternative 'commands:command:_command_names -e' 'files:file:_files' ;;
  esac
}
if [[ $funcstack[1] == _pvm ]]; then _pvm "$@"; else compdef _pvm pvm; fi
"#;

const FISH: &str = r#"# fish completion for pvm
function __pvm_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] complete -- $words[2..-1] $current 2>/dev/null)
    set -l front (string match -r '^--[a-z]+=' -- $current)
    for line in $lines[2..-1]
        echo "$front$line"
    end
    switch "$lines[1]"
        case files
            __fish_complete_path $current
        case programs
            __fish_complete_command
            __fish_complete_path $current
    end
end
complete -c pvm -f -a '(__pvm_complete)'
"#;
