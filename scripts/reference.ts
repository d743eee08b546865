import type { Command, CommandTree, Flag } from '../src/cli/command.js';

/** The table of commands in the README. */
export function commandTable({ groups, commands }: CommandTree): string {
  const rows = commands
    .filter(({ hidden }) => !hidden)
    .map((command) => `| \`regen ${usage(command)}\` | ${escaped(command.summary)} |`);
  const kinds = Object.keys(groups).filter((name) => !name.includes(' '));
  return [
    `${rows.length} commands in ${kinds.length} groups.`,
    '',
    '| command | what it does |',
    '| --- | --- |',
    ...rows,
  ].join('\n');
}

/** Every command with its flags, as docs/reference.md. */
export function reference({ groups, globals, commands }: CommandTree): string {
  const shown = commands.filter(({ hidden }) => !hidden);
  const nouns = [...new Set(shown.map(({ words }) => words[0] as string))];
  const chapters = nouns.map((noun) => {
    const own = shown.filter(({ words }) => words[0] === noun).map(section);
    return [`## ${noun}`, '', `${groups[noun] ?? ''}.`.replace(/^\.$/, ''), '', ...own].join('\n');
  });
  return `# Command reference

Made from the contract and the views by \`npm run generate\`.

## Flags of every command

${flagList(globals)}

${chapters.join('\n')}`
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n');
}

function section(command: Command): string {
  const flags = command.flags.filter(({ hidden }) => !hidden);
  const described = command.arguments.filter(({ description }) => description);
  return [
    `### regen ${usage(command)}`,
    '',
    `${command.summary}.`,
    '',
    ...described.map(({ name, description }) => `- \`${name}\`: ${description}`),
    '',
    flagList(flags),
    '',
    ...(command.notes ?? []).flatMap((note) => [note, '']),
    ...(command.examples.length > 0 ? ['```sh', ...command.examples, '```', ''] : []),
  ].join('\n');
}

function flagList(flags: readonly Flag[]): string {
  return flags.map((flag) => `- \`${written(flag)}\`: ${flag.description}`).join('\n');
}

function written({ name, short, value, negatable }: Flag): string {
  const long = negatable ? `--${name}, --no-${name}` : `--${name}${value ? ` <${value}>` : ''}`;
  return short ? `-${short}, ${long}` : long;
}

function usage({ words, arguments: positionals }: Command): string {
  const names = positionals.map(({ name, required, variadic }) => {
    const inner = `${name}${variadic ? '...' : ''}`;
    return required ? `<${inner}>` : `[${inner}]`;
  });
  return [...words, ...names].join(' ');
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|');
}
