import type { CompletionPoint } from './table.js';

export function buildFishScript(points: readonly CompletionPoint[]): string {
  return `# Completion of regen for fish, generated from its commands. Load it: regen completion fish | source

# Sets the completions after the words $argv[1], and the hint for the value of the flag $argv[2].
function __regen_facts --no-scope-shadowing
    set commands
    set command_texts
    set flags
    set flag_texts
    set arguments
    set hint ''
    switch $argv[1]
${points.map(formatCase).join('\n')}
    end
end

function __regen_complete
    set -l commands
    set -l command_texts
    set -l flags
    set -l flag_texts
    set -l arguments
    set -l hint ''
    set -l at ''
    set -l flag ''
    set -l prefix ''
    set -l typed
    set -l line (commandline -opc)
    set -e line[1]
    set -l current (commandline -ct)
    for word in $line
        if test -n "$flag"
            set flag ''
        else if string match -q -- '-*=*' $word
            continue
        else if string match -q -- '-*' $word
            __regen_facts "$at" $word
            test -n "$hint"; and set flag $word
        else
            __regen_facts "$at" ''
            if test (count $typed) -eq 0; and contains -- $word $commands
                set at (string trim -- "$at $word")
            else
                set -a typed $word
            end
        end
    end
    if test -z "$flag"; and string match -q -- '--*=*' $current
        set flag (string replace -r -- '=.*' '' $current)
        set prefix "$flag="
        set current (string replace -r -- '^[^=]*=' '' $current)
    end
    __regen_facts "$at" "$flag"
    if test -n "$flag"
        __regen_offer "$hint" "$current" $line | string replace -r -- '^' "$prefix"
    else if string match -q -- '-*' $current
        for i in (seq (count $flags))
            printf '%s\\t%s\\n' $flags[$i] $flag_texts[$i]
        end
    else
        if test (count $typed) -eq 0
            for i in (seq (count $commands))
                printf '%s\\t%s\\n' $commands[$i] $command_texts[$i]
            end
        end
        set -l index (math (count $typed) + 1)
        if test $index -gt (count $arguments); and string match -q -- '*...' $arguments[-1]
            set index (count $arguments)
        end
        if test $index -le (count $arguments)
            __regen_offer (string replace -- '...' '' $arguments[$index]) "$current" $line
        end
    end
end

# Prints the values of the hint $argv[1] for the current word $argv[2]; the other arguments are the words before it.
function __regen_offer
    switch $argv[1]
        case 'choice:*'
            string split , -- (string replace choice: '' -- $argv[1])
        case file
            __fish_complete_path $argv[2]
        case folder
            __fish_complete_directories $argv[2]
        case 'live:*'
            regen __complete (string replace live: '' -- $argv[1]) -- $argv[3..] 2>/dev/null
    end
end

complete -c regen -f -a '(__regen_complete)'
`;
}

function formatCase({ path, commands, flags, values, arguments: expected }: CompletionPoint): string {
  const lines = [
    ...formatLists('command', commands),
    ...formatLists('flag', flags),
    ...(expected.length > 0 ? [`set arguments ${expected.map(quote).join(' ')}`] : []),
    ...formatHintSwitch(values),
  ];
  return [`        case ${quote(path)}`, ...lines.map((line) => `            ${line}`)].join('\n');
}

function formatLists(noun: string, offered: CompletionPoint['commands']): string[] {
  if (offered.length === 0) return [];
  return [
    `set ${noun}s ${offered.map(({ name }) => name).join(' ')}`,
    `set ${noun}_texts ${offered.map(({ text }) => quote(text)).join(' ')}`,
  ];
}

function formatHintSwitch(values: CompletionPoint['values']): string[] {
  if (values.length === 0) return [];
  const byHint = new Map<string, string[]>();
  for (const { name, hint } of values) byHint.set(hint, [...(byHint.get(hint) ?? []), name]);
  const cases = [...byHint].flatMap(([hint, names]) => [
    `    case ${names.join(' ')}`,
    `        set hint ${quote(hint)}`,
  ]);
  return ['switch $argv[2]', ...cases, 'end'];
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
