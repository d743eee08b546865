import { z } from 'zod';
import { LATEST } from '../../contract/schema/semantic-version.js';
import { downloadArchive, findDownloadable } from '../../flows/install/download-archive.js';
import { describeDeprecation } from '../../flows/publish/published.js';
import { saveFile } from '../../flows/save-file.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { reportSigner } from '../connect/known-keys.js';
import { Progress } from '../terminal/progress.js';
import { resolveOutput } from '../terminal/save.js';
import { Count, Sha256, Text } from '../views/answers.js';
import { allowFlag, readAllowed } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'version download <nodeId> [version]',
  summary: 'Save the archive of a version, and print its path',
  explain: { version: 'Version number, or latest (the default)' },
  flags: {
    '-o, --output <path>': 'File or folder/ to save to (default <node>-<version>.zip)',
    '--force': 'Overwrite an existing file',
    ...allowFlag,
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

/** Saves the archive of a version, checked against the digest that the registry publishes and what it signed. */
export async function run(context: Context): Promise<void> {
  const { args, flags, output, system, signal } = context;
  const nodeId = args.nodeId as string;
  await context.services.readAsPublisher(nodeId);
  const { client, signer, name: registry } = await context.services.reach();
  const asked = args.version === LATEST ? undefined : (args.version as string | undefined);
  // Members look at what is staged before they approve it.
  const allowed = new Set(['staged', ...readAllowed(flags)]);
  const version = await findDownloadable({ client, nodeId, version: asked, allowed, signal });
  if (version.deprecated) await output.warn(describeDeprecation(nodeId, version));
  const name = `${nodeId}-${version.version}.zip`;
  const path = resolveOutput(system.cwd, readText(context.flags, 'output'), name);
  using progress = new Progress(output);
  const { size, sha256, isVerified, signed } = await saveFile(
    path,
    flags.force === true,
    async (temporary) => {
      await progress.stage(`Downloading ${nodeId} ${version.version ?? ''}`.trim());
      const onProgress = (done: number, total: number | undefined) => progress.transferred(done, total);
      return downloadArchive(client, version, { path: temporary, signal, signer, onProgress });
    },
  );
  progress.end();
  if (signed) await reportSigner(output, registry, signed);
  if (!isVerified) {
    await output.note(`${registry} publishes no digests, so the archive was not verified.`);
  }
  await output.note(`Downloaded ${nodeId} ${version.version} (${formatBytes(size)}).`);
  await output.answer({ path, node_id: nodeId, version: version.version, size, sha256 }, { only: 'path' });
}
