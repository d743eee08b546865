import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { Node } from '../../contract/node.js';
import { check } from '../../contract/schema/check.js';
import { NodeId, PublisherId, SemanticVersion } from '../../contract/schema/identifiers.js';
import { type InferredManifest, inferManifest } from '../../pack/infer-manifest.js';
import { formatPyproject } from '../../pack/new-pyproject.js';
import { readText } from '../command/command.js';
import { toInvalidFailure } from '../command/request.js';
import { usage } from '../terminal/failure.js';
import { oneLine } from '../terminal/text.js';
import type { CommandContext } from './context.js';

/** What is wanted to know, in the order of the questions. */
const fields = {
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
    question: 'Licence, such as MIT or the path of its file (empty for none)',
    schema: z.string(),
    required: false,
  },
  repository: {
    question: 'Repository URL (empty for none)',
    schema: z.url({ protocol: /^https?$/ }),
    required: false,
  },
} as const;

type Name = keyof typeof fields;
type Facts = Partial<Record<Name, string>>;

/** Writes a pyproject.toml for a pack that has none, and asks what the folder does not tell. */
export async function run(context: CommandContext): Promise<void> {
  const { args, system, flags, output } = context;
  const folder = resolve(system.cwd, (args.dir as string | undefined) ?? '.');
  const path = join(folder, 'pyproject.toml');
  if (existsSync(path) && !flags.force) {
    throw usage(`${path} exists already.`, 'Change it by hand, or write a new one over it with --force.');
  }
  const given = givenFacts(context);
  const found = await inferManifest(folder);
  for (const warning of found.warnings) await output.warn(warning);
  const facts = await completeFacts(context, { ...(await inferFacts(context, found, given)), ...given });
  await sayChoices(context, folder, given, facts);
  const { id = '', name = '', publisher = '', version = '', description, license, repository } = facts;
  const text = formatPyproject({
    ...{ id, name, publisher, version, description, repository },
    license: license ? readLicense(folder, license) : undefined,
    dependencies: found.dependencies,
  });
  writeFileAtomic.sync(path, text);
  await output.answer({ path, ...facts, dependencies: found.dependencies }, { only: 'path' });
  await output.note('Next: regen version check, then regen version publish.');
}

/** What was chosen without being asked for, and might be another than was meant. */
async function sayChoices(
  { output, mayAsk }: CommandContext,
  folder: string,
  given: Facts,
  { id, publisher }: Facts,
): Promise<void> {
  const name = basename(folder);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  if (given.id === undefined && /[^\x00-\x7f]/.test(name)) {
    await output.warn(`The folder's name '${name}' became the node id '${id}'; choose another with --id.`);
  }
  if (given.publisher === undefined && !mayAsk) await output.note(`The publisher is ${publisher}.`);
}

/**
 * What the flags say.
 * @throws Failure naming every flag whose value cannot be taken
 */
function givenFacts(context: CommandContext): Facts {
  const names = Object.keys(fields) as Name[];
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

function findProblem(name: Name, value: string): string | undefined {
  const { schema, required } = fields[name];
  if (value === '' && !required) return undefined;
  const checked = check(schema as z.ZodType, value);
  return checked.ok ? undefined : checked.problems[0]?.message;
}

/** What the folder says, and what follows from it. */
async function inferFacts(context: CommandContext, found: InferredManifest, given: Facts): Promise<Facts> {
  const id = given.id ?? found.id;
  // Whoever publishes as one publisher only means that one.
  const { publish_tokens = {} } = await context.services.openCredentialStore().read();
  const [publisher, another] = Object.keys(publish_tokens);
  return {
    ...(id && { id, name: toTitle(id) }),
    ...(publisher && !another && { publisher }),
    ...(found.description && { description: oneLine(found.description) }),
    ...(found.license && { license: found.license.file }),
    ...(found.repository && { repository: found.repository }),
  };
}

function toTitle(id: string): string {
  const words = id.split(/[-_.]+/).join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const firstVersion = '1.0.0';

/** Asks for what is not known yet; where nobody answers, what can be done without is left out. */
async function completeFacts(context: CommandContext, known: Facts): Promise<Facts> {
  const facts = { ...known };
  const unknown = (Object.keys(fields) as Name[]).filter((name) => facts[name] === undefined);
  if (context.mayAsk) {
    for (const name of unknown) facts[name] = await askFor(context, name, proposeValue(name, facts));
    return facts;
  }
  facts.version ??= firstVersion;
  const missing = unknown.filter((name) => fields[name].required && facts[name] === undefined);
  if (missing.length === 0) return facts;
  throw usage(
    `${missing.map((name) => `--${name}`).join(', ')} must be given, because nobody is there to ask.`,
    `Write them as in: regen node init ${missing.map((name) => `--${name} …`).join(' ')}`,
  );
}

function proposeValue(name: Name, { id }: Facts): string | undefined {
  if (name === 'version') return firstVersion;
  return name === 'name' && id ? toTitle(id) : undefined;
}

async function askFor(context: CommandContext, name: Name, proposal: string | undefined): Promise<string> {
  const { question } = fields[name];
  for (;;) {
    const answer = (await context.system.prompts.input(`${question}:`, proposal)).trim();
    const problem = findProblem(name, answer);
    if (!problem) return answer;
    await context.output.warn(`It ${problem}.`);
  }
}

function readLicense(folder: string, license: string): { file: string } | { text: string } {
  const isFile = statSync(join(folder, license), { throwIfNoEntry: false })?.isFile();
  return isFile ? { file: license } : { text: license };
}
