import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Diagnostics, checkSync as findWorstCase, type Parameters } from 'recheck';
import { parseSync } from 'rolldown/experimental';
import { expect, test } from 'vitest';

// To prove an expression takes up to five seconds, so what was found lies in test/golden, and only expressions that are
// not there are proven. `.ci/run` sets PROVE_EXPRESSIONS, which proves all of them. After a change of expressions:
// UPDATE_EXPRESSIONS=1 npx vitest run test/regular-expressions.test.ts
const golden = new URL('golden/regular-expressions.txt', import.meta.url);

/** The part of recheck in JavaScript; its programs for some machines are not used. */
process.env.RECHECK_SYNC_BACKEND = 'pure';

/** Bounded by counts instead of times, so that a busy machine changes nothing. */
const LIMITS: Parameters = {
  ...{ timeout: null, seedingTimeout: null, incubationTimeout: null, attackTimeout: null, recallTimeout: -1 },
  ...{ maxIteration: 2, maxInitialGenerationSize: 50, maxGenerationSize: 20 },
  ...{ attackLimit: 3_000_000, maxAttackStringSize: 10_000 },
};

/** What may take more than linear time, and why that text stays short. */
const BOUNDED: Readonly<Record<string, string>> = {
  'cli/api/fields.ts \\[([^\\]]*)\\]': 'an argument of the command line',
  'cli/command/help.ts \\s*\\S+': 'the help of this program',
  'cli/command/program.ts \\s*\\n\\s*': 'an argument of the command line',
  'cli/commands/webhook-verify.ts "(?:[^"\\\\]|\\\\.)*"|[,:]':
    'JSON that was written here, in which every string ends',
  'cli/connect/credentials.ts \\/+$': 'an address in the settings',
  'cli/connect/settings.ts \\/+$': 'an address in the settings',
  'client/url.ts \\/+$': 'an address in the settings',
  'service/configuration/s3-settings.ts ^\\/+|\\/+$': 'an address in the settings',
  'service/engines/remote/remote-server.ts \\/+$': 'an address in the settings',
  'service/registry/uplink.ts \\/+$': 'an address in the settings',
  'service/serve.ts \\/+$': 'an address in the settings',
  'service/storage/s3.ts \\/+$': 'an address in the settings',
  'pack/infer-manifest.ts ^[^a-z0-9]+|[^a-z0-9]+$': 'the name of a folder',
  'pack/infer-manifest.ts [^a-z0-9]+$': 'the name of a folder',
  'pack/infer-manifest.ts ^\\/+|\\/+$': "an address of git's configuration",
  'pack/infer-manifest.ts <!--[\\s\\S]*?-->': 'the first 16 KiB of a README',
  'pack/infer-manifest.ts !\\[[^\\]]*\\](\\([^)]*\\)|\\[[^\\]]*\\])': 'the first 16 KiB of a README',
  'pack/infer-manifest.ts \\[([^\\]]*)\\](\\([^)]*\\)|\\[[^\\]]*\\])': 'the first 16 KiB of a README',
  'pack/infer-manifest.ts <[^>]*>': 'the first 16 KiB of a README',
  'python/definitions/expressions.ts ["\']+$': 'the start of a Python string, at most five characters',
  'python/scan/python.ts \\b(?:pip3?|uv)\\b[\\s\\S]*\\binstall\\b': '2,000 characters of a command',
};

/** Where patterns are put together, and of what. */
const BUILT: Readonly<Record<string, string>> = {
  'cli/connect/settings.ts': 'names of stores',
  'cli/terminal/picture.ts': 'a number',
  'contract/schema/outline.ts': 'literals of the contract',
  'pack/dynamic-version.ts': 'what the pyproject.toml gives for hatch, where a person packs the folder',
  'python/definitions/imitation.ts': 'a pattern of Python code, whose steps are counted first',
  'service/engines/upstream/request.ts': 'a random mark',
  'service/registry/uplink-rules.ts': 'patterns of the operator, for ids of at most 100 characters',
  'service/storage/s3.ts': 'names of elements',
};

interface Literal {
  readonly file: string;
  readonly pattern: string;
  readonly flags: string;
}

type Node = Readonly<Record<string, unknown>>;

const literals: Literal[] = [];
const builders = new Set<string>();
for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.ts')) continue;
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, regex, callee } = value as Node;
    if (type === 'Literal' && regex) literals.push({ file, ...(regex as Omit<Literal, 'file'>) });
    else if (
      ['NewExpression', 'CallExpression'].includes(type as string) &&
      (callee as Node).name === 'RegExp'
    )
      builders.add(file);
    if (!regex) Object.values(value).forEach(visit);
  };
  visit(parseSync(file, readFileSync(join('src', file), 'utf8')).program);
}

/** Without repetition that has no upper bound, the time for each character is bounded, too. */
const repeating = literals.filter(({ pattern }) => /[*+]|\{\d+,\}/.test(pattern));

const { version } = createRequire(import.meta.url)('recheck/package.json') as { version: string };
/** What the verdicts depend on besides the expressions. */
const provenBy = `recheck ${version} ${JSON.stringify(LIMITS)}`;
const [goldenProvenBy, ...goldenLines] = readFileSync(golden, 'utf8').trimEnd().split('\n');
const provesAll = Boolean(process.env.PROVE_EXPRESSIONS) || goldenProvenBy !== provenBy;
/** By expression: `linear`, or `slow` for what takes more than linear time. */
const verdicts = new Map(
  (provesAll ? [] : goldenLines).map((line) => [line.slice(line.indexOf('/')), line.split(' ')[0]]),
);

const isSlow = ({ pattern, flags }: Literal): boolean => {
  const name = `/${pattern}/${flags}`;
  if (!verdicts.has(name)) {
    const worst: Diagnostics = findWorstCase(pattern, flags, LIMITS);
    verdicts.set(name, worst.status === 'safe' ? 'linear' : 'slow');
  }
  return verdicts.get(name) === 'slow';
};

const rooms = [...new Set(repeating.map(({ file }) => file.split('/')[0] as string))].sort();

test.each(rooms)(
  'no regular expression of src/%s takes more than linear time, unless its text is short',
  (room) => {
    const own = repeating.filter(({ file }) => file.startsWith(`${room}/`));
    const slow = own.filter(isSlow).map(({ file, pattern }) => `${file} ${pattern}`);
    expect([...new Set(slow)].sort()).toEqual(
      Object.keys(BOUNDED)
        .filter((name) => name.startsWith(`${room}/`))
        .sort(),
    );
  },
);

test('the golden verdicts match the regular expressions of src', () => {
  const lines = repeating.map((literal) => {
    const verdict = isSlow(literal) ? 'slow' : 'linear';
    return `${verdict} /${literal.pattern}/${literal.flags}`;
  });
  const text = [provenBy, ...[...new Set(lines)].sort(), ''].join('\n');
  if (process.env.UPDATE_EXPRESSIONS) writeFileSync(golden, text);
  else expect(readFileSync(golden, 'utf8'), 'Run this file with UPDATE_EXPRESSIONS=1.').toBe(text);
});

test('regular expressions are built at run time only from text that is trusted, or their steps are counted', () => {
  expect(repeating.length).toBeGreaterThan(150);
  expect([...builders].sort()).toEqual(Object.keys(BUILT).sort());
});
