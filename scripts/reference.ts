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

<!-- Generated from the contract and the views by \`npm run generate\`. -->

Every command with its arguments and flags, as \`regen <command> --help\` shows them.

${formatCommandTable(tree)}

## Flags of every command

${formatFlags(globals)}

${formatDestructive(commands)}

${chapters.join('\n')}`
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n');
}

function formatCommandTable({ commands }: CommandTree): string {
  const rows = commands.map(
    (command) => `| \`regen ${formatUsage(command)}\` | ${escapePipes(command.summary)} |`,
  );
  return [`${rows.length} commands:`, '', '| command | what it does |', '| --- | --- |', ...rows].join('\n');
}

/** The commands that ask first, and why others do not. */
function formatDestructive(commands: readonly Command[]): string {
  const rows = commands.flatMap((command) => {
    const { words, destroys } = command;
    const flag = destroys?.flag ? ` --${destroys.flag}` : '';
    return destroys ? [`| \`regen ${words.join(' ')}${flag}\` | ${destroys.loss} |`] : [];
  });
  return `## Commands that cannot be undone

No other command brings back what these remove. On a terminal they ask first. Where they cannot ask, they change nothing and
exit with 2 unless \`--yes\` is given: if stdin or stderr is not a terminal, if \`CI\` is set, and with \`--no-input\`.
\`--dry-run\` needs no \`--yes\`.

| command | what is lost |
| --- | --- |
${rows.join('\n')}

Not listed is what another command undoes or starts again: bans, statuses, roles, settings, sign-ins, deprecations,
cancelled webhooks and cancelled tasks. Files are only overwritten with \`--force\`, and \`serve restore\` and \`serve copy\` only
write where there is no data yet. \`regen api\` sends the request that it is given, without a question.`;
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
