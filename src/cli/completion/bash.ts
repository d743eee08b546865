import type { CompletionPoint } from './table.js';

/** Supports bash 3.2 and later; macOS still has 3.2. */
export function buildBashScript(points: readonly CompletionPoint[]): string {
  return `# Completion of regen for bash, generated from its commands. Load it: source <(regen completion bash)

# Sets the completions after the words $1, and the hint for the value of the flag $2.
_regen_facts() {
  commands='' flags='' hint='' arguments=''
  case $1 in
${points.map(formatCase).join('\n')}
  esac
}

_regen() {
  local current=\${COMP_WORDS[COMP_CWORD]} at='' flag='' word i index
  local commands flags hint arguments
  local typed=() expected=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      # In --flag=value, the = is a separate word.
      [[ $word == '=' ]] || flag=''
    elif [[ $word == -* ]]; then
      _regen_facts "$at" "$word"
      [[ -n $hint ]] && flag=$word
    else
      _regen_facts "$at" ''
      if [[ \${#typed[@]} == 0 && " $commands " == *" $word "* ]]; then
        at="\${at:+$at }$word"
      else
        typed+=("$word")
      fi
    fi
  done
  [[ -n $flag && $current == '=' ]] && current=''
  _regen_facts "$at" "$flag"
  if [[ -n $flag ]]; then
    _regen_offer
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    [[ \${#typed[@]} == 0 ]] && COMPREPLY=($(compgen -W "$commands" -- "$current"))
    expected=($arguments)
    index=\${#typed[@]}
    if ((index >= \${#expected[@]} && \${#expected[@]} > 0)); then
      index=$((\${#expected[@]} - 1))
      [[ \${expected[index]} == *... ]] || return
    fi
    hint=\${expected[index]%...}
    _regen_offer
  fi
}

_regen_offer() {
  local value
  case $hint in
    choice:*)
      hint=\${hint#choice:}
      COMPREPLY+=($(compgen -W "\${hint//,/ }" -- "$current"))
      ;;
    file | folder)
      compopt -o filenames 2> /dev/null
      while IFS= read -r value; do
        COMPREPLY+=("$value")
      done < <(compgen "$([[ $hint == file ]] && echo -f || echo -d)" -- "$current")
      ;;
    live:*)
      # compgen -W would run code in a value.
      while IFS= read -r value; do
        [[ $value == "$current"* ]] && COMPREPLY+=("$value")
      done < <(regen __complete "\${hint#live:}" -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)
      ;;
  esac
}

complete -F _regen regen
`;
}

function formatCase({ path, commands, flags, values, arguments: expected }: CompletionPoint): string {
  const lines = [
    commands.length > 0 && `commands='${commands.map(({ name }) => name).join(' ')}'`,
    `flags='${flags.map(({ name }) => name).join(' ')}'`,
    expected.length > 0 && `arguments='${expected.join(' ')}'`,
    ...formatHintCase(values),
  ].filter((line) => line !== false);
  return [`    '${path}')`, ...lines.map((line) => `      ${line}`), '      ;;'].join('\n');
}

/** Formats a \`case\` over flags, for bash and zsh. */
export function formatHintCase(values: CompletionPoint['values']): string[] {
  const byHint = new Map<string, string[]>();
  for (const { name, hint } of values) byHint.set(hint, [...(byHint.get(hint) ?? []), name]);
  if (byHint.size === 0) return [];
  const cases = [...byHint].map(([hint, names]) => `  ${names.join(' | ')}) hint=${hint} ;;`);
  return ['case $2 in', ...cases, 'esac'];
}
