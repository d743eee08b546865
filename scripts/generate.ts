import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { commandTree } from '../src/cli/views/derive.js';
import { contract } from '../src/contract/index.js';
import { createOpenApiDocument } from '../src/contract/openapi.js';
import { readIfPresent } from './commands.js';
import { formatConfigurationPage } from './configuration-page.js';
import { formatCommandTable, formatReference } from './reference.js';

/** Every file in the repository that is generated from the contract and the views. */
const files: Record<string, () => string> = {
  'README.md': () =>
    replaceBetweenMarks(readFileSync('README.md', 'utf8'), 'commands', formatCommandTable(commandTree())),
  'docs/configuration.md': formatConfigurationPage,
  'docs/reference.md': () => formatReference(commandTree()),
  'docs/openapi.json': () =>
    `${JSON.stringify(createOpenApiDocument(contract, { version: readPackageVersion() }), null, 1)}\n`,
};

/** Replaces the text between two marks of a Markdown file. */
function replaceBetweenMarks(text: string, name: string, content: string): string {
  const marks = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(\\n<!-- /${name} -->)`);
  return text.replace(marks, (_, start: string, end: string) => `${start}\n${content}\n${end}`);
}

function readPackageVersion(): string {
  return JSON.parse(readFileSync('package.json', 'utf8')).version;
}

const stale = Object.entries(files).filter(([path, make]) => readIfPresent(path) !== make());
if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(`Not up to date: ${stale.map(([path]) => path).join(', ')}. Run: npm run generate`);
    process.exitCode = 1;
  }
} else {
  for (const [path, make] of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, make());
  }
}
