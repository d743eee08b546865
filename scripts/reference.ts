import type { Command, CommandTree, Flag } from '../src/cli/command/command.js';

/** Formats every command with its flags for docs/reference.md. */
export function formatReference(tree: CommandTree): string {
  const { groups, globals, commands } = tree;
  const nouns = [...new Set(commands.map(({ words }) => words[0] as string))];
  const chapters = nouns.map((noun) => {
    const own = commands.filter(({ words }) => words[0] === noun).map(formatCommand);
    return [`## ${noun}`, '', `${groups[noun] ?? ''}.`.replace(/^\.$/, ''), '', ...own].join('\n');
  });
  return `# Command reference

Generated from the contract and the views by \`npm run generate\`.

${formatCommandTable(tree)}

## Flags of every command

${formatFlags(globals)}

${chapters.join('\n')}`
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n');
}

function formatCommandTable({ groups, commands }: CommandTree): string {
  const rows = commands.map(
    (command) => `| \`regen ${formatUsage(command)}\` | ${escapePipes(command.summary)} |`,
  );
  const topLevel = Object.keys(groups).filter((name) => !name.includes(' '));
  return [
    `${rows.length} commands in ${topLevel.length} groups.`,
    '',
    '| command | what it does |',
    '| --- | --- |',
    ...rows,
  ].join('\n');
}

function formatCommand(command: Command): string {
  const flags = command.flags.filter(({ hidden }) => !hidden);
  const described = command.arguments.filter(({ description }) => description);
  return [
    `### regen ${formatUsage(command)}`,
    '',
    `${command.summary}.`,
    '',
    ...described.map(({ name, description }) => `- \`${name}\`: ${description}`),
    '',
    formatFlags(flags),
    '',
    ...(command.notes ?? []).flatMap((note) => [note, '']),
    ...(command.examples.length > 0 ? ['```sh', ...command.examples, '```', ''] : []),
  ].join('\n');
}

function formatFlags(flags: readonly Flag[]): string {
  return flags.map((flag) => `- \`${formatFlag(flag)}\`: ${flag.description}`).join('\n');
}

function formatFlag({ name, short, value, negatable }: Flag): string {
  const long = negatable ? `--${name}, --no-${name}` : `--${name}${value ? ` <${value}>` : ''}`;
  return short ? `-${short}, ${long}` : long;
}

function formatUsage({ words, arguments: positionals }: Command): string {
  const names = positionals.map(({ name, required, variadic }) => {
    const inner = `${name}${variadic ? '...' : ''}`;
    return required ? `<${inner}>` : `[${inner}]`;
  });
  return [...words, ...names].join(' ');
}

function escapePipes(text: string): string {
  return text.replaceAll('|', '\\|');
}
