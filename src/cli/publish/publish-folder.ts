import { ClientError } from '../../client/errors.js';
import { regen, say } from '../../contract/schema/message.js';
import { type CodeAllowances, type Pack, readPack, type Stages, UNSEEN } from '../../flows/publish/pack.js';
import { publishPack, tryPack } from '../../flows/publish/publish-pack.js';
import type { NodeVersion } from '../../flows/publish/published.js';
import type { Registry } from '../../flows/publish/upload.js';
import type { CodeReport } from '../../python/code-report.js';
import { type FlagValues, readText } from '../command/command.js';
import { loadFormat } from '../connect/clients.js';
import type { Service } from '../connect/services.js';
import { tuneEngine } from '../terminal/engine.js';
import { withScratch } from '../terminal/scratch.js';
import {
  findPublishToken,
  makeToken,
  type PublishContext,
  type PublishSubject,
  type PublishToken,
} from './token.js';

/** What the reader of code, hashes, archives and requests need. */
const PACKING_MODULES = ['child_process', 'crypto', 'fs/promises', 'http', 'zlib'];

export function readAllowances(flags: FlagValues): CodeAllowances {
  return { findings: flags['allow-findings'] === true, empty: flags['allow-empty'] === true };
}

/** Reads a folder with the flags of a command that packs it. */
export async function readFolder(
  { system, flags, output, services }: Pick<PublishContext, 'system' | 'flags' | 'output' | 'services'>,
  dir: string | undefined,
): Promise<Pack> {
  tuneEngine(PACKING_MODULES);
  const { packRules } = await (flags.for === 'comfy' ? loadFormat('comfy') : services.findFormat());
  return readPack(system.cwd, dir, output, {
    publisher: readText(flags, 'publisher'),
    allowSecrets: flags['allow-secrets'] === true,
    ...packRules,
  });
}

/**
 * Does what a publish does before it sends anything.
 * @throws FlowError if the registry has a reason to refuse the pack; one that does not answer prevents nothing
 */
export async function tryFolder(context: PublishContext, pack: Pack, code: CodeReport): Promise<void> {
  const { services, system, signal, output } = context;
  try {
    if (!(await services.reachRunning())) return;
    await services.readAsPublisher(pack.manifest.node.id);
    const service = await services.reach();
    const choices = { ...readChoices(context.flags, code), progress: UNSEEN, changelog: undefined };
    await withScratch(system.now(), (scratch) =>
      tryPack({ ...choices, scratch, signal, report: output }, pack, service.client),
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    await output.warn(`The registry was not asked: ${error.message}`);
  }
}

function readChoices(flags: FlagValues, code: CodeReport | undefined) {
  return {
    skipExisting: flags['skip-existing'] === true,
    stage: flags.stage === true,
    code: flags['allow-breaking'] === true ? undefined : code,
  };
}

export interface PublishOptions {
  readonly changelog: string | undefined;
  /** How long to wait for the verdict. */
  readonly timeoutMs: number;
  readonly progress: Stages;
  readonly code: CodeReport | undefined;
  /** Called when the same files were published before, and may be. */
  readonly onExisting?: () => void;
  readonly findToken?: (service: Service, subject: PublishSubject) => Promise<PublishToken>;
}

export function publishFolder(
  context: PublishContext,
  pack: Pack,
  {
    changelog,
    timeoutMs,
    progress,
    code,
    onExisting,
    findToken = (service, subject) => findPublishToken(context, service, subject),
  }: PublishOptions,
): Promise<NodeVersion> {
  const { services, connect, signal, flags, output, system, interruption } = context;
  const { node, version } = pack.manifest;
  const openRegistry = async (publisherId: string): Promise<Registry> => {
    const service = await services.reach();
    const { url, client, credential } = service;
    const { token, replaceable } = await findToken(service, { publisherId, nodes: [node.id] });
    return {
      token,
      connect: async (pat) => (credential ? client : connect(url, pat, services.target)),
      // The data of the embedded service may have been removed, and the token with it.
      ...(replaceable && { renewToken: () => makeToken(context, service, publisherId) }),
    };
  };
  const onUploaded = () => {
    interruption.hint = say`The upload is complete. See the verdict later with: ${regen('version get', `${node.id} ${version.version}`)}`;
    interruption.hasBegun = true;
  };
  return withScratch(system.now(), (scratch) =>
    publishPack(
      {
        ...{ openRegistry, report: output, progress, scratch, changelog, signal, onUploaded },
        ...(onExisting && { onExisting }),
        timeoutMs: flags.wait === false ? undefined : timeoutMs,
        ...readChoices(flags, code),
      },
      pack,
    ),
  );
}
