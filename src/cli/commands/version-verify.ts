import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { LATEST } from '../../contract/schema/semantic-version.js';
import { downloadArchive, isSigned } from '../../flows/install/download-archive.js';
import { toVerdictError } from '../../flows/publish/next-step.js';
import { readPack } from '../../flows/publish/pack.js';
import { readVersion, resolveVersion } from '../../flows/publish/published.js';
import {
  type ComparedFiles,
  compareFiles,
  type FileDifference,
  readArchivedFiles,
  readSourceFiles,
} from '../../flows/trust/compare-files.js';
import { fetchGitSource } from '../../pack/git-fetch.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { reportSigner } from '../connect/known-keys.js';
import { Failure, usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { withScratch } from '../terminal/scratch.js';
import { formatCount } from '../terminal/text.js';
import { Row, Sha256, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version verify <nodeId> [version]',
  summary:
    'Check the archive of a version, and show who vouches for it; exits 6 if something does not match, or if it is flagged',
  explain: { version: 'Version number, or latest (the default)' },
  flags: {
    '--source <place>': 'Also compare it with what this source makes: a folder, or a git URL (https or ssh)',
    '--ref <ref>': 'With a git URL: the tag, branch or commit (default: v and the version)',
  },
  shape: { columns: ['what', 'by', 'detail'] },
  notes: [
    'A source is packed by the rules of version publish. Nothing of it is run, and git reads it without any configuration.',
  ],
  examples: [
    'regen version verify light-tools 1.2.0',
    'regen version verify light-tools 1.2.0 --source https://github.com/my-team/light-tools --ref v1.2.0',
  ],
  answer: z.object({
    node_id: Text,
    version: Text,
    archive_sha256: Sha256,
    tree_sha256: Sha256,
    key: Text.nullable().describe('With which the registry signed; null if it signs nothing'),
    verdict: Text.nullable(),
    provenance: z.record(Text, Text).nullable(),
    source: z.object({ place: Text, differences: Row({ path: Text, difference: Text }) }).nullable(),
  }),
});

export async function run(context: Context): Promise<void> {
  const { system } = context;
  await withScratch(system.now(), (scratch) => verifyVersion(context, scratch));
}

async function verifyVersion(context: Context, scratch: string): Promise<void> {
  const { args, command, output, signal, services, flags } = context;
  const nodeId = args.nodeId as string;
  await services.readAsPublisher(nodeId);
  const { client, signer, name: registry } = await services.reach();
  const asked = await resolveVersion({ client }, nodeId, (args.version ?? LATEST) as string, signal);
  const found = await readVersion({ client, nodeId, version: asked, signal });
  if (!found?.downloadUrl)
    throw new Failure(`${nodeId} ${asked} cannot be downloaded.`, { code: 'not_found' });
  const { version = asked } = found;
  const about = `${nodeId} ${version}`;
  using progress = new Progress(output);
  await progress.stage(`Checking ${about}`);
  const path = join(scratch, 'node.zip');
  const { sha256, signed } = await downloadArchive(
    client,
    { ...found, node_id: nodeId, version },
    { path, signer, signal },
  );
  const { tree, files } = await readArchivedFiles(path, about);
  const place = readText(flags, 'source');
  const source =
    place === undefined
      ? null
      : { place, differences: await compare(context, place, version, files, scratch) };
  progress.end();
  if (signed) await reportSigner(output, registry, signed);
  const { kid: key = null, verdict = null, provenance = null } = signed ?? {};
  const digests = { archive_sha256: sha256, tree_sha256: tree };
  const answer = { node_id: nodeId, version, ...digests, key, verdict, provenance, source };
  if (output.isTable) await output.answer(toCard(answer, registry));
  else await output.answer(output.mode.json ? answer : toRows(answer, registry), command.shape);
  if (!signed)
    await output.note(
      `${registry} ${isSigned(found) ? 'signed nothing of it' : 'signs only Active versions'}, so only its address vouches for the archive.`,
    );
  if (source?.differences.length) throw toDifferenceFailure(about, source);
  if (/Flagged|Banned/.test(found.status ?? '')) throw toVerdictError({ nodeId }, found);
}

async function compare(
  context: Context,
  place: string,
  version: string,
  published: ComparedFiles,
  scratch: string,
): Promise<FileDifference[]> {
  const { system, signal, services, flags } = context;
  const ref = readText(flags, 'ref');
  let folder = resolve(system.cwd, place);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    folder = join(scratch, 'source');
    await fetchGitSource({ url: place, ref: ref ?? `v${version}` }, folder, { env: system.env, signal });
  } else if (ref !== undefined)
    throw usage(
      '--ref needs a git URL.',
      'Check the ref out in the folder, or pass the URL of its repository.',
    );
  const silent = { note: async () => undefined, warn: async () => undefined };
  // Nothing is published.
  const pack = await readPack(system.cwd, folder, silent, {
    allowSecrets: true,
    ...(await services.findFormat()).packRules,
  });
  return compareFiles(await readSourceFiles(pack, scratch, signal), published);
}

interface Verification {
  readonly archive_sha256: string;
  readonly tree_sha256: string;
  readonly key: string | null;
  readonly verdict: string | null;
  readonly provenance: Readonly<Record<string, string>> | null;
  readonly source: { readonly place: string; readonly differences: readonly FileDifference[] } | null;
}

/** With digests that can be copied. */
function toCard({ source, tree_sha256, key, ...answer }: Verification, registry: string) {
  const by = { signed_by: key === null ? 'no one' : registry, key };
  const from = source && { source: source.place, source_files: describeDifferences(source.differences) };
  return { ...answer, ...by, files_sha256: tree_sha256, ...from };
}

function toRows({ key, verdict, provenance, source, ...digests }: Verification, registry: string) {
  const signer = key === null ? 'no one' : `${registry}, key ${key}`;
  const rows = [
    ['archive', signer, `SHA-256 ${digests.archive_sha256}`],
    ['files', signer, `SHA-256 ${digests.tree_sha256}`],
    ['verdict', signer, verdict],
    ['provenance', provenance?.issuer, provenance && describeProvenance(provenance)],
    ['source', source?.place, source && describeDifferences(source.differences)],
  ] as const;
  return rows.flatMap(([what, by = '', detail]) => (detail ? [{ what, by, detail }] : []));
}

function describeProvenance({ issuer: _, ...facts }: Readonly<Record<string, string>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function describeDifferences(differences: readonly FileDifference[]): string {
  return differences.length === 0
    ? 'makes the same files'
    : `${formatCount(differences.length, 'file')} ${differences.length === 1 ? 'differs' : 'differ'}`;
}

const DIFFERENCES: Readonly<Record<FileDifference['difference'], string>> = {
  'only in the archive': 'is only in the archive',
  'only in the source': 'is only in the source',
  'other content': 'has different content',
  'other mode': 'has a different mode',
};

function toDifferenceFailure(
  about: string,
  { place, differences }: NonNullable<Verification['source']>,
): Failure {
  return new Failure(`${about} is not what ${place} makes.`, {
    code: 'source_differs',
    details: differences
      .slice(0, 100)
      .map(({ path, difference }) => ({ path, message: DIFFERENCES[difference] })),
  });
}
