import rcompare from 'semver/functions/rcompare.js';
import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import { items } from '../../client/pages.js';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { runInOrder } from '../../pack/run-in-order.js';
import { type ReadDefinition, readDefinition } from './check-node.js';
import type { RecordedPack } from './parse-workflow.js';

export interface PackVersion {
  readonly node_id: string;
  readonly version: string;
}

/** What the registry has of the packs and names of some workflows. */
export class DefinitionCatalog {
  readonly #versions = new Map<string, Map<string, ReadDefinition>>();
  readonly #owners = new Map<string, PackVersion[]>();
  readonly #latest = new Map<string, string>();
  readonly #absent = new Set<string>();
  /** The versions that were asked for, the highest of each read first. */
  readonly #asked: PackVersion[] = [];
  /** Whether the registry answers about many names at once. */
  #isBulk = true;

  constructor(
    readonly client: Client,
    readonly signal: AbortSignal,
  ) {}

  /** The definitions of a version that were read; undefined if the registry has no such version. */
  getVersion({ node_id, version }: PackVersion): ReadonlyMap<string, ReadDefinition> | undefined {
    return this.#versions.get(toKey(node_id, version));
  }

  /** The latest version of a pack, if one was found. */
  getLatest(nodeId: string): string | undefined {
    return this.#latest.get(nodeId.toLowerCase());
  }

  /**
   * The packs that have a name, each once: among the versions that were asked for, or else by their latest version.
   * The registry names no others if one of the former has it.
   */
  listOwners(name: string): readonly PackVersion[] {
    const holders = new Map<string, PackVersion>();
    for (const pack of this.#asked) {
      const key = pack.node_id.toLowerCase();
      if (!holders.has(key) && this.getVersion(pack)?.has(name)) holders.set(key, pack);
    }
    return holders.size > 0 ? [...holders.values()] : (this.#owners.get(name) ?? []);
  }

  /**
   * Reads the definitions with some names of some versions, in one request if the registry can, and finds who has the
   * names that none of them has. Versions without one of the names are then read whole, because the registry behind a
   * registry answers only so, and because that tells whether there is such a version.
   * @param locked versions that may have the names; read whole only if a name has no owner, or their pack is one or recorded
   */
  async read(
    names: readonly string[],
    packs: readonly RecordedPack[],
    locked: readonly PackVersion[] = [],
  ): Promise<void> {
    const unread = [...locked, ...packs].filter(({ node_id, version }) => !this.#knows(node_id, version));
    if (names.length === 0) return;
    const exact = unread.flatMap(({ node_id, version }) =>
      version === undefined ? [] : { node_id, version },
    );
    this.#asked.push(...exact.sort((one, other) => rcompare(one.version, other.version)));
    const asked = new Map(unread.map((pack) => [toKey(pack.node_id, pack.version ?? ''), pack]));
    for (const some of listParts(names, DEFAULT_LIMITS.bulkPairs))
      for (const versions of listParts([...asked.values()], DEFAULT_LIMITS.bulkPairs))
        if (this.#isBulk) await this.#readBulk(some, versions);
    const isOpen = !this.#isBulk || names.some((name) => this.listOwners(name).length === 0);
    const needed = new Set([...packs.map(({ node_id }) => node_id.toLowerCase()), ...this.#latest.keys()]);
    const isNeeded = ({ node_id }: RecordedPack) => isOpen || needed.has(node_id.toLowerCase());
    await runAll([...asked.values()].filter(isNeeded), (pack) => this.#readWhole(pack));
    if (this.#isBulk) return;
    const known = new Set([...this.#versions.values()].flatMap((all) => [...all.keys()]));
    await runAll(
      names.filter((name) => !known.has(name)),
      (name) => this.#findOwner(name),
    );
  }

  #knows(nodeId: string, version = this.getLatest(nodeId) ?? ''): boolean {
    const key = toKey(nodeId, version);
    return this.#versions.has(key) || this.#absent.has(key);
  }

  async #readBulk(names: readonly string[], packs: readonly RecordedPack[]): Promise<void> {
    try {
      const body = { names: [...names], node_versions: [...packs] };
      const { host_nodes } = await this.client.hostNodes.bulk({ body }, { signal: this.signal });
      const asked = new Set(packs.map(({ node_id, version = '' }) => toKey(node_id, version)));
      for (const listed of host_nodes) {
        const { node_id, node_version: version, host_node_name: name } = listed;
        if (node_id === undefined || version === undefined || name === undefined) continue;
        const key = toKey(node_id, version);
        const known = this.#versions.get(key) ?? new Map<string, ReadDefinition>();
        this.#versions.set(key, known.set(name, readDefinition(listed)));
        if (asked.has(key)) continue;
        this.#latest.set(node_id.toLowerCase(), version);
        this.#owners.set(name, [...(this.#owners.get(name) ?? []), { node_id, version }]);
      }
    } catch (error) {
      requireStatus(error, [404, 405, 501]);
      this.#isBulk = false;
    }
  }

  async #readWhole({ node_id, version }: RecordedPack): Promise<void> {
    if (this.#knows(node_id, version)) return;
    const { client, signal } = this;
    try {
      const wanted =
        version ?? (await client.node.get({ nodeId: node_id }, { signal })).latest_version?.version;
      if (wanted === undefined) throw new ServiceError({ code: 'not_found', status: 404, message: '' });
      if (version === undefined) this.#latest.set(node_id.toLowerCase(), wanted);
      const read = (page: number) =>
        client.hostNodes.list({ nodeId: node_id, version: wanted, page, limit: 100 }, { signal });
      const found = new Map<string, ReadDefinition>();
      for await (const one of items(read))
        if (one.host_node_name !== undefined) found.set(one.host_node_name, readDefinition(one));
      this.#versions.set(toKey(node_id, wanted), found);
    } catch (error) {
      requireStatus(error, ABSENT);
      this.#absent.add(toKey(node_id, version ?? ''));
    }
  }

  /** Asks about one name; registries without a bulk read know one owner of each. */
  async #findOwner(name: string): Promise<void> {
    try {
      const { client, signal } = this;
      const { id: node_id } = await client.hostNodes.findNode({ hostNodeName: name }, { signal });
      if (node_id === undefined) return;
      await this.#readWhole({ node_id, version: undefined });
      const version = this.getLatest(node_id);
      if (version !== undefined) this.#owners.set(name, [{ node_id, version }]);
    } catch (error) {
      requireStatus(error, ABSENT);
    }
  }
}

/** Banned packs answer 403. */
const ABSENT = [403, 404];

/** @throws the error, if it is not an answer with one of these statuses */
function requireStatus(error: unknown, statuses: readonly number[]): void {
  if (!(error instanceof ServiceError) || !statuses.includes(error.status)) throw error;
}

function toKey(nodeId: string, version: string): string {
  return `${nodeId.toLowerCase()}\n${version}`;
}

/** At least one part, which may be empty. */
function listParts<Item>(all: readonly Item[], size: number): (readonly Item[])[] {
  const count = Math.max(1, Math.ceil(all.length / size));
  return Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size));
}

async function runAll<Item>(all: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for await (const _ of runInOrder(all, 8, work));
}
