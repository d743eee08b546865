# Completion of regen for bash 3.2 and later, which asks regen itself. Load it: source <(regen completion bash)

_regen() {
  local current=${COMP_WORDS[COMP_CWORD]} line path quote=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file | :folder)
        # bash 3.2 cannot quote file names itself, and would run $(...) in one.
        if type compopt > /dev/null 2>&1; then compopt -o filenames 2> /dev/null; else quote=yes; fi
        while IFS= read -r path; do
          if [[ $quote ]]; then
            printf -v path %q "$path"
            path=${path/#\\~/\~}
          fi
          COMPREPLY+=("$path")
        done < <(compgen "$([[ $line == :file ]] && echo -f || echo -d)" -- "${current#=}")
        ;;
      *)
        # compgen -W would run code in a value.
        line=${line%%$'\t'*}
        [[ $line == "${current#=}"* ]] && COMPREPLY+=("$line")
        ;;
    esac
  done < <(command regen __complete --current="$current" -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)
}

complete -F _regen regen
