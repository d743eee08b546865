import { mkdirSync, writeFileSync } from 'node:fs';
import type { Command, CommandTree } from '../src/cli/command/command.js';
import { formatFlag, type Topic } from '../src/cli/command/help.js';

const FOLDER = 'dist/man';

/** Writes the manual pages: `regen(1)` with the topics of `regen help`, and one page for each group of commands. */
export function writeManualPages(tree: CommandTree, topics: Readonly<Record<string, Topic>>): void {
  mkdirSync(FOLDER, { recursive: true });
  const names = tree.words.map((word) => `regen-${word}`);
  const intro = 'publish node packs, make images and videos, or run the service itself';
  writeFileSync(
    `${FOLDER}/regen.1`,
    formatPage('regen', intro, [
      ['SYNOPSIS', [bold('regen'), '\\fIcommand\\fR [\\fIoptions\\fR]']],
      ...Object.values(topics).map(
        (topic) => [topic.summary.toUpperCase(), formatTopic(topic)] as [string, string[]],
      ),
      ['SEE ALSO', [names.map((name) => `${bold(name)}(1)`).join(', ')]],
    ]),
  );
  for (const word of tree.words) {
    const commands = tree.commands.filter(({ words }) => words[0] === word);
    const summary = tree.groups[word] ?? commands[0]?.summary ?? '';
    const sections = commands.map((command): [string, string[]] => [
      `regen ${command.words.join(' ')}`.toUpperCase(),
      formatCommand(command),
    ]);
    const page = formatPage(`regen-${word}`, summary, [...sections, ['SEE ALSO', [`${bold('regen')}(1)`]]]);
    writeFileSync(`${FOLDER}/regen-${word}.1`, page);
  }
}

function formatPage(name: string, summary: string, sections: [heading: string, lines: string[]][]): string {
  const head = [`.TH ${name.toUpperCase()} 1 "" regen`, '.SH NAME', `${name} \\- ${escapeRoff(summary)}`];
  const rest = sections.flatMap(([heading, lines]) => [`.SH "${escapeRoff(heading)}"`, ...lines]);
  return `${[...head, ...rest].join('\n')}\n`;
}

function formatTopic({ blocks }: Topic): string[] {
  return blocks.flatMap(({ heading, text, items = [] }) => [
    ...(heading ? ['.PP', bold(heading)] : []),
    ...(text ? ['.PP', escapeRoff(text)] : []),
    ...items.flatMap(([term, description]) => formatItem(term, description)),
  ]);
}

function formatCommand({
  words,
  summary,
  arguments: positionals,
  flags,
  notes = [],
  examples,
}: Command): string[] {
  const names = positionals.map(({ name, required, variadic }) => {
    const inner = `${name}${variadic ? '...' : ''}`;
    return required ? `<${inner}>` : `[${inner}]`;
  });
  const usage = [bold(`regen ${words.join(' ')}`), ...names.map(escapeRoff), '[options]'].join(' ');
  return [
    usage,
    '.PP',
    `${escapeRoff(summary)}.`,
    ...positionals.flatMap(({ name, description }) => (description ? formatItem(name, description) : [])),
    ...flags
      .filter(({ hidden }) => !hidden)
      .flatMap((flag) => formatItem(formatFlag(flag), flag.description)),
    ...notes.flatMap((note) => ['.PP', escapeRoff(note)]),
    ...(examples.length > 0 ? ['.PP', 'Examples:', '.PP', '.nf', ...examples.map(escapeRoff), '.fi'] : []),
  ];
}

function formatItem(term: string, description: string): string[] {
  return ['.TP', bold(term), escapeRoff(description)];
}

function bold(text: string): string {
  return `\\fB${escapeRoff(text)}\\fR`;
}

/** A line must not begin with a dot or a quote, which would make it a request. */
function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&');
}
