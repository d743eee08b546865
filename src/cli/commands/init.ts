import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { Node } from '../../contract/node.js';
import { checkValue } from '../../contract/schema/check.js';
import { NodeId, PublisherId, SemanticVersion } from '../../contract/schema/identifiers.js';
import { regen, say } from '../../contract/schema/message.js';
import { replaceFolderFile } from '../../disk/private-file.js';
import { formatPyproject, type InferredManifest, inferManifest } from '../../pack/infer-manifest.js';
import { readText } from '../command/command.js';
import type { Flags } from '../command/flags.js';
import { toInvalidFailure } from '../command/request.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { capitalize, oneLine } from '../terminal/text.js';
import { Text, Texts } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'services' | 'mayAsk'>;

export const view = (): View => ({
  usage: 'node init [dir]',
  local: true,
  summary: 'Create the pyproject.toml of a node pack, and ask for values that the folder does not provide',
  explain: { dir: 'Folder of the node pack (default: the current folder)' },
  flags: {
    ...manifestFlags(Object.keys(FIELDS) as FieldName[]),
    '--force': 'Overwrite an existing pyproject.toml',
  },
  examples: ['regen node init', 'regen node init packs/light --publisher my-team --no-input'],
  answer: z.object({
    path: Text,
    id: Text,
    name: Text,
    publisher: Text,
    version: Text,
    description: Text.optional(),
    license: Text.optional(),
    repository: Text.optional(),
    dependencies: Texts,
  }),
});

const FIELD_FLAGS: Readonly<Record<FieldName, readonly [usage: string, description: string]>> = {
  id: ['--id <nodeId>', "Node id (default: from the folder's name)"],
  name: ['--name <text>', 'Display name (default: from the id)'],
  publisher: ['--publisher <publisherId>', 'Publisher to publish under'],
  version: ['--version <version>', 'First version (default 1.0.0)'],
  description: ['--description <text>', 'What the pack does (default: the first paragraph of the README)'],
  license: [
    '--license <path>',
    'License name, or the path of its file (default: the license file in the folder)',
  ],
  repository: ['--repository <url>', 'Source repository (default: the git remote)'],
};

export function manifestFlags(names: readonly FieldName[]): Flags {
  return Object.fromEntries(names.map((name) => FIELD_FLAGS[name]));
}

/** The fields of a manifest, in the order of the questions. */
const FIELDS = {
  id: { question: 'Node id', schema: NodeId, required: true },
  name: { question: 'Display name', schema: z.string().min(1).max(200), required: true },
  publisher: { question: 'Publisher id', schema: PublisherId, required: true },
  version: { question: 'Version', schema: SemanticVersion, required: true },
  description: {
    question: 'Description (empty for none)',
    schema: Node.shape.description.unwrap(),
    required: false,
  },
  license: {
    question: 'License, such as MIT or the path of its file (empty for none)',
    schema: z.string(),
    required: false,
  },
  repository: {
    question: 'Repository URL (empty for none)',
    schema: z.url({ protocol: /^https?$/, error: 'must be a URL such as https://github.com/me/my-nodes' }),
    required: false,
  },
} as const;

type FieldName = keyof typeof FIELDS;
type FieldValues = Partial<Record<FieldName, string>>;

export async function run(context: Context): Promise<void> {
  const { args, system, flags, output } = context;
  const folder = resolve(system.cwd, (args.dir as string | undefined) ?? '.');
  const path = join(folder, 'pyproject.toml');
  if (existsSync(path) && !flags.force) {
    throw usage(`${path} already exists.`, 'Edit it, or pass --force to overwrite it.');
  }
  const { facts, dependencies } = await collectFacts(context, folder);
  const { id = '', name = '', publisher = '', version = '', description, license, repository } = facts;
  const text = formatPyproject({
    ...{ id, name, publisher, version, description, repository },
    license: license ? readLicense(folder, license) : undefined,
    dependencies,
  });
  replaceFolderFile(path, text);
  // A person sees what was found in the folder, too.
  const shape = system.stdout.isTTY ? {} : { only: 'path' };
  await output.answer({ path, ...facts, dependencies }, shape);
  await output.note(say`Next: ${regen('version check')}, then ${regen('version publish')}`);
}

/**
 * Collects the values of a new manifest: from flags, from the folder, and from the user.
 * @param known what is not asked for
 */
export async function collectFacts(
  context: Context,
  folder: string,
  known: FieldValues = {},
): Promise<{ readonly facts: FieldValues; readonly dependencies: readonly string[] }> {
  const given = readFlags(context);
  const found = await inferManifest(folder);
  for (const warning of found.warnings) await context.output.warn(warning);
  const inferred = await inferValues(context, found, given);
  const facts = await completeValues(context, { ...known, ...inferred, ...given }, given);
  await sayChoices(context, folder, given, facts);
  return { facts, dependencies: found.dependencies };
}

/** Reports values that were inferred and may be wrong. */
async function sayChoices(
  { output, mayAsk }: Needs<'output' | 'mayAsk'>,
  folder: string,
  given: FieldValues,
  { id, publisher }: FieldValues,
): Promise<void> {
  const name = basename(folder);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (given.id === undefined && /[^\x00-\x7f]/.test(name)) {
    await output.warn(
      `The node id '${id}' is derived from the folder name '${name}'. Choose another one with --id.`,
    );
  }
  if (given.publisher === undefined && !mayAsk)
    await output.note(`Using your only publisher, ${publisher} (change it in pyproject.toml).`);
}

/**
 * Reads the values from the flags.
 * @throws Failure with all invalid flags
 */
function readFlags(context: Needs<'flags'>): FieldValues {
  const names = Object.keys(FIELDS) as FieldName[];
  const given = names.flatMap((name) => {
    const value = readText(context.flags, name);
    return value === undefined ? [] : [[name, value.trim()] as const];
  });
  const problems = given.flatMap(([name, value]) => {
    const message = findProblem(name, value);
    return message ? [{ path: `--${name}`, message }] : [];
  });
  if (problems.length > 0) throw toInvalidFailure(problems);
  return Object.fromEntries(given);
}

function findProblem(name: FieldName, value: string): string | undefined {
  const { schema, required } = FIELDS[name];
  if (value === '' && !required) return undefined;
  const checked = checkValue(schema as z.ZodType, value);
  return checked.ok ? undefined : String(checked.problems[0]?.message);
}

async function inferValues(
  context: Needs<'services'>,
  found: InferredManifest,
  given: FieldValues,
): Promise<FieldValues> {
  const id = given.id ?? found.id;
  // Users with a token for one publisher probably mean that one.
  const [publisher, another] = await listPublishers(context);
  return {
    ...(id && { id, name: toTitle(id) }),
    ...(publisher && !another && { publisher }),
    ...(found.description && { description: oneLine(found.description) }),
    ...(found.license && { license: found.license.file }),
    ...(found.repository && { repository: found.repository }),
  };
}

function toTitle(id: string): string {
  return capitalize(id.split(/[-_.]+/).join(' '));
}

export const FIRST_VERSION = '1.0.0';

/** Asks for missing values. Without prompts, optional ones are left out. */
async function completeValues(
  context: Context,
  known: FieldValues,
  given: FieldValues,
): Promise<FieldValues> {
  const facts = { ...known };
  const unknown = (Object.keys(FIELDS) as FieldName[]).filter((name) => facts[name] === undefined);
  if (context.mayAsk) {
    // An inferred publisher is only proposed: a pack must not be published under a name that was not seen.
    const isAsked = (name: FieldName) => unknown.includes(name) || (name === 'publisher' && !given.publisher);
    if (isAsked('publisher')) {
      await context.output.note(
        say`A publisher owns nodes and publishes their versions. On the embedded service any new id works; it is created on first publish. On another, choose one of yours: ${regen('publisher list')}`,
      );
    }
    for (const name of (Object.keys(FIELDS) as FieldName[]).filter(isAsked)) {
      const known = name === 'publisher' ? await listPublishers(context) : [];
      const chosen = known.length > 1 ? await askChoice(context, known) : undefined;
      facts[name] = chosen ?? (await askField(context, name, facts[name] ?? proposeValue(name, facts)));
    }
    return facts;
  }
  facts.version ??= FIRST_VERSION;
  const missing = unknown.filter((name) => FIELDS[name].required && facts[name] === undefined);
  if (missing.length === 0) return facts;
  throw usage(
    `${missing.map((name) => `--${name}`).join(', ')} ${missing.length > 1 ? 'are' : 'is'} required, because this command cannot prompt.`,
    say`Pass values, such as: ${regen(context.command.words.join(' '), missing.map((name) => `--${name} <${name}>`).join(' '), context.args.dir as string | undefined)}`,
  );
}

const OTHER_PUBLISHER = 'Another one';

async function askChoice({ system }: Needs<'system'>, known: readonly string[]): Promise<string | undefined> {
  const chosen = await system.prompts.select('Publisher:', [...known, OTHER_PUBLISHER]);
  return chosen === OTHER_PUBLISHER ? undefined : chosen;
}

/** Lists the publishers for which this machine has a token. */
async function listPublishers({ services }: Needs<'services'>): Promise<string[]> {
  const { publish_tokens = {} } = await services.openCredentialStore().read();
  return Object.keys(publish_tokens);
}

function proposeValue(name: FieldName, { id }: FieldValues): string | undefined {
  if (name === 'version') return FIRST_VERSION;
  return name === 'name' && id ? toTitle(id) : undefined;
}

async function askField(
  context: Needs<'system'>,
  name: FieldName,
  proposal: string | undefined,
): Promise<string> {
  const { question } = FIELDS[name];
  const answer = await context.system.prompts.input(`${question}:`, proposal, (text) =>
    findProblem(name, text),
  );
  return answer.trim();
}

function readLicense(folder: string, license: string): { file: string } | { text: string } {
  const isFile = statSync(join(folder, license), { throwIfNoEntry: false })?.isFile();
  return isFile ? { file: license } : { text: license };
}
