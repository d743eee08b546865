import type { Client } from '../../client/client.js';

/** Kinds of values that come from a service, the settings or the ledger. */
export type LiveKind = 'node' | 'version' | 'publisher' | 'profile' | 'task' | 'delivery';

export interface LiveQuery {
  readonly client: Client;
  /** The node whose versions are requested. */
  readonly nodeId: string | undefined;
  readonly signal: AbortSignal;
}

type ReadValues = (query: LiveQuery) => Promise<string[]>;

/** Reads each kind from a service. */
export const LIVE_READERS: Readonly<Record<Exclude<LiveKind, 'profile' | 'task'>, ReadValues>> = {
  async publisher({ client, signal }) {
    return (await client.publisher.list({}, { signal, retries: 0 })).flatMap(({ id }) => id ?? []);
  },

  /** The user's own nodes first, then some of all nodes. */
  async node(query) {
    const { client, signal } = query;
    const listSome = async () => (await client.node.search({ limit: 100 }, { signal, retries: 0 })).nodes;
    const found = await Promise.allSettled([listOwnNodes(query), listSome()]);
    const read = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (read.length === 0) throw (found[0] as PromiseRejectedResult).reason;
    return read.flat().flatMap(({ id }) => id ?? []);
  },

  async version({ client, signal, nodeId }) {
    if (nodeId === undefined) return [];
    const versions = await client.version.list({ nodeId }, { signal, retries: 0 });
    return versions.flatMap(({ version }) => version ?? []);
  },

  async delivery({ client, signal }) {
    return (await client.webhook.deliveries({}, { signal, retries: 0 })).map(({ id }) => id);
  },
};

const MAX_PUBLISHERS = 10;

async function listOwnNodes({ client, signal }: LiveQuery) {
  const publishers = await client.publisher.list({}, { signal, retries: 0 });
  const pages = publishers.slice(0, MAX_PUBLISHERS).map(async ({ id: publisherId = '' }) => {
    return (await client.node.list({ publisherId, limit: 100 }, { signal, retries: 0 })).nodes;
  });
  return (await Promise.all(pages)).flat();
}

/** A shell could interpret other values as more than one word. */
const SAFE_VALUE = /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,255}$/;
const MAX_VALUES = 1000;

/** Selects the values that are safe for a shell, without duplicates. */
export function selectSafeValues(values: readonly string[]): string[] {
  return [...new Set(values)].filter((value) => SAFE_VALUE.test(value)).slice(0, MAX_VALUES);
}
