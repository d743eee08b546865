import type { Client } from '../../client/client.js';

/** What of a service, of the settings, of the ledger or of a video model is offered as a value. */
export type Kind = 'node' | 'version' | 'publisher' | 'profile' | 'task' | 'duration' | 'resolution';

export interface Question {
  readonly client: Client;
  /** Of the node whose versions are wanted. */
  readonly nodeId: string | undefined;
  readonly signal: AbortSignal;
}

type Read = (question: Question) => Promise<string[]>;

/** How each kind is read from a service. */
export const readers: Readonly<Record<Extract<Kind, 'node' | 'version' | 'publisher'>, Read>> = {
  async publisher({ client, signal }) {
    return (await client.publisher.list({}, { signal, retries: 0 })).flatMap(({ id }) => id ?? []);
  },

  /** The caller's own first of all, then some of everybody's. */
  async node(question) {
    const { client, signal } = question;
    const some = async () => (await client.node.search({ limit: 100 }, { signal, retries: 0 })).nodes;
    const found = await Promise.allSettled([ownNodes(question), some()]);
    const read = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (read.length === 0) throw (found[0] as PromiseRejectedResult).reason;
    return read.flat().flatMap(({ id }) => id ?? []);
  },

  async version({ client, signal, nodeId }) {
    if (nodeId === undefined) return [];
    const versions = await client.version.list({ nodeId }, { signal, retries: 0 });
    return versions.flatMap(({ version }) => version ?? []);
  },
};

const mostPublishers = 10;

async function ownNodes({ client, signal }: Question) {
  const publishers = await client.publisher.list({}, { signal, retries: 0 });
  const pages = publishers.slice(0, mostPublishers).map(async ({ id: publisherId = '' }) => {
    return (await client.node.list({ publisherId, limit: 100 }, { signal, retries: 0 })).nodes;
  });
  return (await Promise.all(pages)).flat();
}

/** A shell might take anything else for more than a word. */
const harmless = /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,255}$/;
const mostValues = 1000;

/** Values that may be handed to a shell, each once. */
export function selectOfferable(values: readonly string[]): string[] {
  return [...new Set(values)].filter((value) => harmless.test(value)).slice(0, mostValues);
}
