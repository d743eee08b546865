import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client as ContractClient } from '../client/client.js';
import { requireInput } from '../client/require-input.js';
import type { Text } from '../contract/schema/message.js';
import { checkCode, readPack, UNSEEN } from '../flows/publish/pack.js';
import { publishPack } from '../flows/publish/publish-pack.js';
import type { NodeVersion } from './api.generated.js';
import type { Client } from './client.js';

export interface PublishOptions {
  /** A client that sends a credential; the personal access token is enough. */
  readonly client: Client;
  /** Of the publisher that the pack names. */
  readonly personalAccessToken: string;
  /** The publisher to publish under, instead of the one in pyproject.toml. */
  readonly publisher?: string;
  readonly changelog?: string;
  /** How long to wait for the verdict of the registry. Default 30 minutes. */
  readonly timeoutMs?: number;
  /** Whether an owner has to approve the version once it has passed its checks. Default false. */
  readonly stage?: boolean;
  /** Whether the same files may already be published. Default false. */
  readonly skipExisting?: boolean;
  /** Whether to publish files that look like secrets. Default false. */
  readonly allowSecrets?: boolean;
  /** Whether to publish code that the registry would flag, or that the host cannot import. Default false. */
  readonly allowFindings?: boolean;
  /** Whether to publish a pack without node definitions. Default false. */
  readonly allowEmpty?: boolean;
  /** Whether a patch or minor release may break workflows that were saved with the latest version. Default false. */
  readonly allowBreaking?: boolean;
  readonly signal?: AbortSignal;
  /** Called with progress messages and warnings. */
  readonly log?: (text: string) => void;
}

/**
 * Publishes a folder as `regen version publish` does: packs it, checks it, registers the version, uploads it, and waits
 * until the registry has checked it. A publish that was interrupted continues when it is called again.
 * @throws FlowError if the folder or the version prevents it, ClientError if the input or the service does
 */
export async function publish(folder: string, options: PublishOptions): Promise<NodeVersion> {
  const { personalAccessToken: token, publisher, changelog, timeoutMs = 30 * 60_000, log } = options ?? {};
  requireInput({
    folder: typeof folder !== 'string' && 'must be a path',
    client: typeof options?.client?.requestNamed !== 'function' && 'must be a client',
    personalAccessToken: (typeof token !== 'string' || token === '') && 'must be text',
  });
  const { signal = new AbortController().signal } = options;
  const tell = async (text: Text) => log?.(String(text));
  const report = { note: tell, warn: tell };
  const progress = { ...UNSEEN, stage: tell };
  const { allowSecrets = false, allowFindings = false, allowEmpty = false } = options;
  const { allowBreaking = false, skipExisting = false, stage } = options;
  // Every client of the library is one of the contract with other types.
  const client = options.client as unknown as ContractClient;
  const pack = await readPack('.', folder, report, { publisher, allowSecrets, ...client.packRules });
  const read = await checkCode(pack, report, progress, { findings: allowFindings, empty: allowEmpty });
  // The client has a credential, so no other one is needed.
  const registry = { token, connect: async () => client };
  const scratch = await mkdtemp(join(tmpdir(), 'regen-publish-'));
  try {
    const openRegistry = async () => registry;
    const code = allowBreaking ? undefined : read;
    const context = { openRegistry, report, progress, scratch, changelog, timeoutMs, stage, code };
    return await publishPack({ ...context, skipExisting, signal }, pack);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
