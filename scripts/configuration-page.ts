import {
  describeSetting,
  formatStandard,
  listSettings,
  type Setting,
} from '../src/service/configuration/settings.js';
import { formatPath } from '../src/service/configuration/start-errors.js';

/** Formats every setting of the service for docs/configuration.md. */
export function formatConfigurationPage(): string {
  const settings = listSettings();
  const chapters = new Map<string, Setting[]>();
  for (const setting of settings) {
    const chapter = setting.path.length > 1 ? (setting.path[0] as string) : '';
    chapters.set(chapter, [...(chapters.get(chapter) ?? []), setting]);
  }
  return `# Settings of the service

<!-- Generated from the schema of the configuration by \`npm run generate\`. -->

Every setting of \`regen serve\`: what it does, its environment variable and its default. You need none of them on a laptop.

\`regen serve\` takes a setting from the first of these that has it:

1. its flag: \`--host\`, \`--port\`, \`--data\`;
2. its environment variable;
3. the configuration file given with \`--config\`, TOML or JSON.

An environment variable whose name ends in \`_FILE\` names a file that holds the value, for secrets that are
mounted. Values of lists and maps are JSON in the environment. Names that are not listed here are refused.

Sizes and times are numbers with a unit: \`"500MB"\`, \`"10GiB"\`, \`"90s"\`, \`"15m"\`, \`"30d"\`. A number without a unit counts
bytes, the milliseconds or seconds in the name of a setting, or days of \`retention\`.

- \`regen serve init\` writes a file with every setting as a comment.
- \`regen serve --check\` checks the configuration and starts nothing.
- \`regen serve --print-config\` prints the settings that would be used, with their defaults.

${[...chapters].map(([name, own]) => formatChapter(name, own)).join('\n')}`;
}

function formatChapter(name: string, settings: readonly Setting[]): string {
  const rows = settings.map((setting) => {
    const { path, variable, field } = setting;
    const standard = setting.standard === undefined ? '' : `\`${formatStandard(setting)}\``;
    return `| \`${formatPath(path)}\`<br>\`${variable}\` | ${escapePipes(describeSetting(field).join(' '))} | ${standard} |`;
  });
  const title = name === '' ? 'General' : name;
  return [
    `## ${title}`,
    '',
    '| setting and variable | meaning | default |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function escapePipes(text: string): string {
  return text.replaceAll('|', '\\|');
}
