import { join, resolve } from 'node:path';
import gte from 'semver/functions/gte.js';
import inc from 'semver/functions/inc.js';
import lte from 'semver/functions/lte.js';
import valid from 'semver/functions/valid.js';
import { z } from 'zod';
import { chooseNext, describeChange, isWholeCode } from '../../contract/release-rules.js';
import { regen, say } from '../../contract/schema/message.js';
import { shortenStatus } from '../../contract/status-names.js';
import { readFolderFile } from '../../disk/folder-file.js';
import { replaceFolderFile } from '../../disk/private-file.js';
import { readLatestRelease } from '../../flows/publish/latest-release.js';
import { requireManifest } from '../../flows/publish/pack.js';
import { readVersion } from '../../flows/publish/published.js';
import { isFolder } from '../../flows/save-file.js';
import { readManifest } from '../../pack/manifest.js';
import { MAX_TEXT_BYTES } from '../../pack/pack-text.js';
import { toListedDefinition } from '../../python/definitions/definitions.js';
import { readCodeApart } from '../../python/reader-process.js';
import type { Needs } from '../connect/context.js';
import { IN_EMBEDDED } from '../connect/services.js';
import { readFolder } from '../publish/publish-folder.js';
import { usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import { Text } from '../views/answers.js';
import { dirExplain } from '../views/flags.js';
import type { View } from '../views/view.js';

export const view = (): View => ({
  usage: 'version bump [to] [dir]',
  summary: 'Raise the version in the pyproject.toml of a node pack',
  explain: {
    to: 'major, minor, patch, prerelease, the new version, or auto for what the changes since the latest published version require (default: patch)',
    ...dirExplain,
  },
  notes: [
    'auto raises the major version if saved workflows break, the minor version if definitions, inputs, outputs or values of inputs were added, and else the patch version. Below 1.0.0, what breaks raises the minor version.',
  ],
  examples: ['regen version bump minor', 'regen version bump auto', 'regen version bump 2.0.0 packs/light'],
  answer: z.object({ path: Text, from: Text, version: Text }),
});

const PARTS = ['major', 'minor', 'patch', 'prerelease'];
type Part = Parameters<typeof inc>[1];
type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

/** Raises the version in the manifest of a node pack; everything else in the file stays as it is. */
export async function run(context: Context): Promise<void> {
  const { args, system, output } = context;
  const { to = 'patch', dir } = args as Readonly<Record<string, string | undefined>>;
  const folder = resolve(system.cwd, dir ?? '.');
  const path = join(folder, 'pyproject.toml');
  requireVersion(system.cwd, to, dir);
  requireManifest(folder, dir);
  const read = await readManifest(folder);
  if (!read.ok)
    throw usage(`The manifest ${path} is not valid.`, say`See what is wrong: ${regen('version check')}`);
  const from = read.manifest.version.version;
  if (to === 'auto') {
    const next = await findNextVersion(context, folder, from);
    const answer = { path, from, version: next };
    return next === from ? output.answer(answer, { only: 'version' }) : writeVersion(output, answer);
  }
  const version = PARTS.includes(to) ? inc(from, to as Part) : valid(to);
  if (!version || (to !== version && !PARTS.includes(to)))
    throw usage(`'${to}' is neither ${PARTS.join(', ')}, auto nor a semantic version.`);
  if (lte(version, from)) throw usage(`${version} is not higher than ${from}.`);
  await writeVersion(output, { path, from, version });
}

/** @throws Failure if the arguments are swapped, or the only one is a folder */
function requireVersion(cwd: string, to: string, dir: string | undefined): void {
  const isVersion = (text: string) => [...PARTS, 'auto'].includes(text) || valid(text) !== null;
  const isSwapped = dir !== undefined && isVersion(dir);
  if (isVersion(to) || !(isSwapped || (dir === undefined && isFolder(resolve(cwd, to))))) return;
  throw usage(
    `'${to}' is in the place of the version.`,
    say`The version comes first: ${regen('version bump', isSwapped ? dir : 'auto', to)}`,
  );
}

/** How many of the changes that break workflows are listed. */
const MAX_SHOWN = 20;

/** The number that the changes since the latest published version require, or the present one if it is high enough. */
async function findNextVersion(context: Context, folder: string, current: string): Promise<string> {
  const { output, services, signal } = context;
  // Nothing is sent.
  const flags = { ...context.flags, 'allow-secrets': true };
  const { manifest, files } = await readFolder({ ...context, flags }, folder);
  const { id: nodeId } = manifest.node;
  await services.readAsPublisher(nodeId);
  const { client, name } = await services.reach();
  const latest = await readLatestRelease({ client, nodeId, signal });
  if (!latest) {
    const free = await findUnusedNumber(context, nodeId, current);
    const kept = free === current ? `; ${current} stays` : '';
    await output.note(`${nodeId} has no published version in ${name} to compare with${kept}.`);
    const other = services.absenceHint;
    if (other) await output.note(other);
    return free;
  }
  if (services.isEmbeddedByDefault) await output.note(`Compared with ${latest.version} ${IN_EMBEDDED}`);
  const code = await readCodeApart(files);
  const { part, reason, broken } = chooseNext(latest, code.nodes.map(toListedDefinition), isWholeCode(code));
  const next = inc(latest.version, part) as string;
  if (broken.length > 0) {
    const more = broken.length - MAX_SHOWN;
    await output.note(`${reason}:`);
    for (const one of broken.slice(0, MAX_SHOWN))
      await output.note(`  ${one.host_node_name} ${describeChange(one)}`);
    if (more > 0) await output.note(say`  and ${more} more: ${regen('version diff', shellWord(folder))}`);
    await output.note(`The next version is ${next}.`);
  } else await output.note(`${reason}: the next version is ${next}.`);
  const isHighEnough = gte(current, next);
  const free = await findUnusedNumber(context, nodeId, isHighEnough ? current : next);
  if (free === current) await output.note(`${current} is high enough.`);
  return free;
}

/** A version that was flagged, banned or deleted has used up its number, although it is not the latest one. */
async function findUnusedNumber(context: Context, nodeId: string, wanted: string): Promise<string> {
  const { output, services, signal } = context;
  const { client } = await services.reach();
  let version = wanted;
  for (;;) {
    const used = await readVersion({ client, nodeId, version, signal });
    if (!used?.status || used.from_uplink) return version;
    await output.note(`${version} is used up: it is ${shortenStatus(used.status) ?? used.status}.`);
    version = inc(version, 'patch') as string;
  }
}

async function writeVersion(
  output: Context['output'],
  { path, from, version }: { readonly path: string; readonly from: string; readonly version: string },
): Promise<void> {
  const text = replaceVersion(readFolderFile(path, MAX_TEXT_BYTES).toString(), from, version);
  if (text === undefined)
    throw usage(
      `${path} has no version in [project].`,
      `Change it where it is defined; the next one is ${version}.`,
    );
  replaceFolderFile(path, text);
  await output.answer({ path, from, version }, { only: 'version' });
  await output.note(say`${from} -> ${version}. Next: ${regen('version publish')}`);
}

/** Replaces `version = "…"` in the table `[project]`; undefined if it is not there. */
function replaceVersion(text: string, from: string, version: string): string | undefined {
  let table = '';
  let isReplaced = false;
  const lines = text.split('\n').map((line) => {
    table = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line)?.[1]?.trim() ?? table;
    const [, before = '', quote = '', old, after = ''] =
      /^(\s*version\s*=\s*)(["'])([^"']*)\2(.*)$/s.exec(line) ?? [];
    if (table !== 'project' || isReplaced || old !== from) return line;
    isReplaced = true;
    return `${before}${quote}${version}${quote}${after}`;
  });
  return isReplaced ? lines.join('\n') : undefined;
}
