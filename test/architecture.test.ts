import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path));

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
  readonly isDynamic: boolean;
}

const imports = files.flatMap(importsOf);

function importsOf(from: string): Import[] {
  const text = readFileSync(from, 'utf8');
  const fixed = /^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'/gm;
  const dynamic = /\bimport\(\s*'([^']+)',?\s*\)/g;
  return [
    ...Array.from(text.matchAll(fixed), ([, type, to]) => found(from, to as string, Boolean(type), false)),
    ...Array.from(text.matchAll(dynamic), ([, to]) => found(from, to as string, false, true)),
  ];
}

function found(from: string, to: string, isType: boolean, isDynamic: boolean): Import {
  const target = to.startsWith('.') ? relative('.', resolve(dirname(from), to)).replace(/\.js$/, '.ts') : to;
  return { from, to: target, isType, isDynamic };
}

function room(path: string): string {
  return path.startsWith('src/') ? (path.split('/')[1] as string) : path;
}

// Who may import whom; `disk` holds locks and private files, for the two that keep some.
const allowed: Record<string, readonly string[]> = {
  contract: ['zod'],
  disk: [],
  client: ['contract'],
  pack: ['contract'],
  cli: ['contract', 'client', 'pack', 'disk', 'service'],
  service: ['contract', 'pack', 'disk'],
};

test('each part imports only the parts below it', () => {
  const wrong = imports.filter(({ from, to }) => {
    const isOurs = to.startsWith('src/');
    if (room(from) === 'contract' && !isOurs) return to !== 'zod';
    return isOurs && room(to) !== room(from) && !allowed[room(from)]?.includes(room(to));
  });
  expect(wrong).toEqual([]);
});

test('the command line reaches the service through the commands of serve alone, when it runs', () => {
  const bridges = imports.filter(
    ({ from, to, isType }) => room(from) === 'cli' && room(to) === 'service' && !isType,
  );
  expect(bridges).toEqual([
    {
      from: 'src/cli/commands/serve-rotate-key.ts',
      to: 'src/service/index.ts',
      isType: false,
      isDynamic: true,
    },
    { from: 'src/cli/commands/serve.ts', to: 'src/service/index.ts', isType: false, isDynamic: true },
  ]);
});

test('no file imports itself over others', () => {
  const next = new Map<string, string[]>();
  for (const { from, to, isType } of imports) {
    if (!isType && to.startsWith('src/')) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const target of next.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

test('nothing is exported by default', () => {
  expect(files.filter((file) => /^export default/m.test(readFileSync(file, 'utf8')))).toEqual([]);
});

const homes: readonly { readonly what: string; readonly found: RegExp; readonly at: RegExp }[] = [
  { what: 'commander', found: /from 'commander'/, at: /^src\/cli\/(program|flags|completion)\.ts$/ },
  {
    what: 'ora and chalk',
    found: /from '(ora|chalk)'|import\('(ora|chalk)'\)/,
    at: /^src\/cli\/(progress|output)\.ts$/,
  },
  { what: 'the console', found: /\bconsole\./, at: /^$/ },
  {
    what: 'process',
    found: /\bprocess\.(?!platform\b)/,
    at: /^src\/(cli\/system|service\/serve|disk\/[a-z-]+|service\/storage\/[a-z-]+|service\/database\/[a-z-]+|service\/generation\/engines\/local-video\/worker|pack\/git)\.ts$/,
  },
];

test.each(homes)('$what is used only where it belongs', ({ found, at }) => {
  const elsewhere = files.filter(
    (file) => !at.test(file) && found.test(withoutComments(readFileSync(file, 'utf8'))),
  );
  expect(elsewhere).toEqual([]);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
