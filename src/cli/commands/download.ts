import { createWriteStream } from 'node:fs';
import { z } from 'zod';
import { ServiceError } from '../../client/errors.js';
import { regen, say } from '../../contract/schema/message.js';
import { checkDigest, checkSha256, computeSha256 } from '../../flows/digest.js';
import { toVerdictError } from '../../flows/publish/next-step.js';
import {
  findArchiveDigest,
  type NodeVersion,
  readVersion,
  requireVersion,
} from '../../flows/publish/published.js';
import { saveFile } from '../../flows/save-file.js';
import {
  readVersionStatement,
  requireVouched,
  type VersionStatement,
} from '../../flows/trust/version-statement.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { reportSigner } from '../connect/known-keys.js';
import type { Service } from '../connect/services.js';
import { Failure } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { resolveOutput } from '../terminal/save.js';
import { Count, Sha256, Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version download <nodeId> [version]',
  summary: 'Save the archive of a version, and print its path',
  explain: { version: 'Version number (default: the latest version)' },
  flags: {
    '-o, --output <path>': 'File or folder/ to save to (default <node>-<version>.zip)',
    '--force': 'Overwrite an existing file',
  },
  examples: ['regen version download light-tools', 'regen version download light-tools 1.2.0 -o packs/'],
  answer: z.object({
    path: Text,
    node_id: Text,
    version: Text.optional(),
    size: Count,
    sha256: Sha256,
  }),
});

/** Saves the archive of a version, checked against the digest that the registry publishes and the statement that it signed. */
export async function run(context: Context): Promise<void> {
  const { args, flags, output, system, signal } = context;
  const nodeId = args.nodeId as string;
  const service = await context.services.reach();
  const version = await findVersion(context, service, nodeId, args.version as string | undefined);
  const { downloadUrl, from_uplink } = version;
  if (!downloadUrl) throw toNothingToDownloadFailure(nodeId, version.version);
  const digest = await findArchiveDigest(service.client, version, signal);
  const file = `${nodeId}-${version.version}.zip`;
  const path = resolveOutput(system.cwd, readText(context.flags, 'output'), file);
  const name = { nodeId, version: version.version ?? '' };
  const readStatement = () => readVersionStatement(service.signer, name);
  // Beside the download. What is of the registry behind this one is signed once it is kept.
  const early = from_uplink ? undefined : readStatement();
  early?.catch(() => undefined);
  const progress = new Progress(output);
  let signed: VersionStatement | undefined;
  let size = 0;
  let sha256 = '';
  try {
    await saveFile(path, flags.force === true, async (temporary) => {
      await progress.stage(`Downloading ${nodeId} ${version.version ?? ''}`.trim());
      const downloaded = await service.client.download(downloadUrl, {
        to: createWriteStream(temporary, { flags: 'wx' }),
        credential: true,
        signal,
        onProgress: (done, total) => progress.transferred(done, total),
      });
      size = downloaded.bytes;
      sha256 = await computeSha256(temporary);
      if (digest !== undefined) checkSha256(digest, sha256);
      checkDigest(downloaded.headers['repr-digest'], sha256);
      signed = await (early ?? readStatement());
      if (signed) requireVouched(signed, sha256, `${nodeId} ${name.version}`);
    });
  } finally {
    progress.end();
  }
  if (signed) await reportSigner(output, service.name, signed);
  else if (digest === undefined) {
    await output.note(`${service.name} publishes no digests, so the archive was not verified.`);
  }
  await output.note(`Downloaded ${nodeId} ${version.version} (${formatBytes(size)}).`);
  await output.answer({ path, node_id: nodeId, version: version.version, size, sha256 }, { only: 'path' });
}

/**
 * Finds the version to download. The install operation counts the download; services without it are read.
 * @throws Failure if there is none, or it may not be downloaded
 */
async function findVersion(
  { signal }: Needs<'signal'>,
  service: Service,
  nodeId: string,
  version: string | undefined,
): Promise<NodeVersion> {
  const { client } = service;
  try {
    const asked = { nodeId, ...(version !== undefined && { version }) };
    return requireVersion(client, asked, await client.node.install(asked, { signal }));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    // Either the service lacks the operation, or the version is not active.
    const read = await readWithoutCounting(service, nodeId, version, signal);
    if (!read) throw error.code === 'not_found' ? error : toNothingToDownloadFailure(nodeId, version);
    return requireDownloadable(nodeId, read);
  }
}

async function readWithoutCounting(
  { client }: Service,
  nodeId: string,
  version: string | undefined,
  signal: AbortSignal,
): Promise<NodeVersion | undefined> {
  if (version === undefined) {
    const { latest_version } = await client.node.get({ nodeId }, { signal });
    return latest_version && requireVersion(client, { nodeId }, latest_version);
  }
  return readVersion({ client, nodeId, version, signal });
}

function requireDownloadable(nodeId: string, version: NodeVersion): NodeVersion {
  switch (version.status) {
    case 'NodeVersionStatusFlagged':
    case 'NodeVersionStatusBanned':
      throw toVerdictError({ nodeId }, version);
    case 'NodeVersionStatusDeleted':
      throw toNothingToDownloadFailure(nodeId, version.version, ', because it was deleted');
    case 'NodeVersionStatusPending':
      throw new Failure(`The registry has not finished checking ${nodeId} ${version.version}.`, {
        code: 'version_pending',
        hint: 'Try again later.',
      });
    default:
      return version;
  }
}

function toNothingToDownloadFailure(nodeId: string, version: string | undefined, why = ''): Failure {
  return new Failure(`${nodeId}${version ? ` ${version}` : ''} cannot be downloaded${why}.`, {
    code: 'not_found',
    hint: say`List the versions with: ${regen('version list', nodeId)}`,
  });
}
