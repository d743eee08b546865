import { formatHintCase } from './bash.js';
import type { CompletionPoint, Offer } from './table.js';

/** The script can be sourced, or found as `_regen` in a folder of `fpath`. */
export function buildZshScript(points: readonly CompletionPoint[]): string {
  return `#compdef regen
# Completion of regen for zsh, generated from its commands. Load it: source <(regen completion zsh)

# Sets the completions after the words $1, and the hint for the value of the flag $2.
_regen_facts() {
  commands=() flags=() arguments=() hint=''
  case $1 in
${points.map(formatCase).join('\n')}
  esac
}

_regen() {
  local at='' flag='' hint='' word i
  local -a commands flags arguments typed
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -*=* ]]; then
      continue
    elif [[ $word == -* ]]; then
      _regen_facts "$at" "$word"
      [[ -n $hint ]] && flag=$word
    else
      _regen_facts "$at" ''
      if ((\${#typed} == 0)) && [[ -n \${(M)commands:#$word:*} ]]; then
        at="\${at:+$at }$word"
      else
        typed+=("$word")
      fi
    fi
  done
  if [[ -z $flag && $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    compset -P '*='
  fi
  _regen_facts "$at" "$flag"
  if [[ -n $flag ]]; then
    _regen_offer
  elif [[ $PREFIX == -* ]]; then
    _describe -o option flags
  else
    ((\${#typed} == 0 && \${#commands} > 0)) && _describe command commands
    hint=\${arguments[\${#typed} + 1]:-}
    [[ -z $hint && \${arguments[-1]:-} == *... ]] && hint=\${arguments[-1]}
    hint=\${hint%...}
    _regen_offer
  fi
}

_regen_offer() {
  local -a values
  case $hint in
    choice:*)
      values=(\${(s:,:)\${hint#choice:}})
      compadd -a values
      ;;
    file) _files ;;
    folder) _files -/ ;;
    live:*)
      values=(\${(f)"$(regen __complete \${hint#live:} -- "\${(@)words[2,CURRENT-1]}" 2> /dev/null)"})
      compadd -a values
      ;;
  esac
}

if [[ \${funcstack[1]:-} == _regen ]]; then
  _regen "$@"
elif ((\${+functions[compdef]})); then
  compdef _regen regen
fi
`;
}

function formatCase({ path, commands, flags, values, arguments: expected }: CompletionPoint): string {
  const lines = [
    commands.length > 0 && `commands=(${commands.map(formatOffer).join(' ')})`,
    `flags=(${flags.map(formatOffer).join(' ')})`,
    expected.length > 0 && `arguments=(${expected.join(' ')})`,
    ...formatHintCase(values),
  ].filter((line) => line !== false);
  return [`    '${path}')`, ...lines.map((line) => `      ${line}`), '      ;;'].join('\n');
}

function formatOffer({ name, text }: Offer): string {
  return `'${`${name}:${text}`.replaceAll("'", "'\\''")}'`;
}
