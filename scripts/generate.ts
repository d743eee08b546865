import { readFileSync, writeFileSync } from 'node:fs';
import { commandTree } from '../src/cli/views/derive.js';

/** Everything in the repository that is made from the contract and the views. */
const files: Record<string, () => string> = {
  'src/cli/commands.generated.json': () => `${JSON.stringify(commandTree(), null, 1)}\n`,
};

function current(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const stale = Object.entries(files).filter(([path, make]) => current(path) !== make());
if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(`Not up to date: ${stale.map(([path]) => path).join(', ')}. Run: npm run generate`);
    process.exitCode = 1;
  }
} else {
  for (const [path, make] of stale) writeFileSync(path, make());
}
