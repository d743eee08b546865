import { loadNaming } from '../../contract/naming/load-naming.js';
import { regen, say } from '../../contract/schema/message.js';
import { checkCode, type Pack, readPack, type Stages } from '../../flows/publish/pack.js';
import { publishPack } from '../../flows/publish/publish-pack.js';
import type { NodeVersion } from '../../flows/publish/published.js';
import { readText } from '../command/command.js';
import type { Service } from '../connect/services.js';
import { tuneEngine } from '../terminal/engine.js';
import { withScratch } from '../terminal/scratch.js';
import { findPublishToken, type PublishContext, type PublishToken, toRegistry } from './token.js';

/** What the reader of code, hashes, archives and requests need. */
const PACKING_MODULES = ['child_process', 'crypto', 'fs/promises', 'http', 'zlib'];

/** Reads a folder with the flags of a command that packs it. */
export async function readFolder(
  { system, flags, output, services }: Pick<PublishContext, 'system' | 'flags' | 'output' | 'services'>,
  dir: string | undefined,
): Promise<Pack> {
  tuneEngine(PACKING_MODULES);
  const named = flags.for === 'comfy' ? loadNaming('comfy', () => '') : services.findNaming();
  return readPack(system.cwd, dir, output, {
    publisher: readText(flags, 'publisher'),
    allowSecrets: flags['allow-secrets'] === true,
    naming: await named,
  });
}

/** Reads the code of a pack as the service will; a finding that would flag the version stops the command. */
export async function checkFolder(
  { flags, output }: Pick<PublishContext, 'flags' | 'output'>,
  pack: Pack,
  progress: Stages,
): Promise<void> {
  await checkCode(pack, output, progress, flags['allow-findings'] === true);
}

export interface PublishOptions {
  readonly changelog: string | undefined;
  /** How long to wait for the verdict. */
  readonly timeoutMs: number;
  readonly progress: Stages;
  findToken?(service: Service, publisherId: string): Promise<PublishToken>;
}

/** Publishes a pack with the flags of the command. */
export function publishFolder(
  context: PublishContext,
  pack: Pack,
  { changelog, timeoutMs, progress, findToken }: PublishOptions,
): Promise<NodeVersion> {
  const { services, connect, signal, flags, output, system, interruption } = context;
  const { node, version } = pack.manifest;
  const connectToService = (url: string, token?: string) => connect(url, token, services.target);
  const openRegistry = async (publisherId: string) => {
    const service = await services.reach();
    const token = await (findToken?.(service, publisherId) ??
      findPublishToken(context, service, publisherId));
    return toRegistry(context, service, publisherId, token);
  };
  const onUploaded = () => {
    interruption.hint = say`The upload is complete. See the verdict later with: ${regen('version bulk', `${node.id}@${version.version}`)}`;
  };
  return withScratch(system.now(), (scratch) =>
    publishPack(
      {
        ...{ openRegistry, report: output, progress, scratch, changelog, signal, onUploaded },
        connect: connectToService,
        timeoutMs: flags.wait === false ? undefined : timeoutMs,
        skipExisting: flags['skip-existing'] === true,
      },
      pack,
    ),
  );
}
