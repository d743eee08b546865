import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { compareVersions, isPreRelease } from './version-order.js';
import type { VersionView } from './views.js';

const DAY_MS = 24 * 60 * 60_000;

/** Whether a text matches a pattern in which `*` stands for any characters, without regard to case. */
export function matchGlob(pattern: string, text: string): boolean {
  const parts = pattern
    .toLowerCase()
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(text.toLowerCase());
}

// Decided: a version without a date, or with one in the future, does not pass where dates matter. That a registry says
// that a version is older than it is cannot be known here.
/** Which versions of a node of the registry behind this one are offered. */
export class VersionRules {
  readonly #context: Pick<Context, 'configuration' | 'now'>;
  readonly #nodeId: string;

  constructor(context: Pick<Context, 'configuration' | 'now'>, nodeId: string) {
    this.#context = context;
    this.#nodeId = nodeId;
  }

  /** Says why a version is not offered, as a predicate; undefined if it is. */
  findReason({ version = '', createdAt }: VersionView): string | undefined {
    const { minAgeDays = 0, asOf, deny = [] } = this.#context.configuration.uplink ?? {};
    const full = valid(completeVersion(version));
    for (const [pattern, range] of deny.map(splitNodeVersion)) {
      if (range === undefined || !matchGlob(pattern, this.#nodeId)) continue;
      // What cannot be compared with a range may be in it.
      if (!full || satisfies(full, range, { includePrerelease: true })) return 'is denied';
    }
    if (asOf === undefined && minAgeDays === 0) return undefined;
    const at = Date.parse(createdAt ?? '');
    if (Number.isNaN(at)) return 'has no valid date, so it is held back';
    if (asOf !== undefined && at > Date.parse(asOf)) return `is newer than ${asOf}`;
    const until = at + minAgeDays * DAY_MS;
    if (until > this.#context.now()) return `is held back until ${new Date(until).toISOString()}`;
    return undefined;
  }

  /** @throws Refused not_offered if the version is not offered */
  require(version: VersionView): VersionView {
    const reason = this.findReason(version);
    if (reason === undefined) return version;
    throw this.#refuse(`Version ${version.version} of the node ${this.#nodeId} ${reason}`);
  }

  /** Selects the versions that are offered; the reason of the newest one says which newer ones are not. */
  select(versions: readonly VersionView[]): VersionView[] {
    const isBefore = (one: VersionView, other: VersionView) =>
      compareVersions(one.version ?? '', other.version ?? '') < 0;
    const offered = versions.filter((version) => this.findReason(version) === undefined);
    const newest = offered.reduce<VersionView | undefined>(
      (best, one) => (best && isBefore(one, best) ? best : one),
      undefined,
    );
    const held = versions.flatMap((version) => {
      const reason = this.findReason(version);
      return reason && newest && isBefore(newest, version) ? [`${version.version} ${reason}`] : [];
    });
    if (held.length === 0) return offered;
    const status_reason = `By the rules of this registry, ${held.slice(0, 5).join(', ')}.`;
    return offered.map((version) => (version === newest ? { ...version, status_reason } : version));
  }

  /**
   * Replaces the latest version by the latest that is offered.
   * @param readAll reads all versions, if they are needed
   */
  async chooseLatest(
    latest: VersionView | undefined,
    readAll: () => Promise<readonly VersionView[]>,
  ): Promise<VersionView | undefined> {
    if (!latest || this.findReason(latest) === undefined) return latest;
    const active = (await readAll()).filter(({ status = ACTIVE }) => status === ACTIVE);
    const [best] = this.select(active).sort(
      (one, other) =>
        Number(isPreRelease(one.version ?? '')) - Number(isPreRelease(other.version ?? '')) ||
        compareVersions(other.version ?? '', one.version ?? ''),
    );
    return best;
  }

  /** @throws Refused not_offered if no version is offered */
  async requireLatest(
    latest: VersionView,
    readAll: () => Promise<readonly VersionView[]>,
  ): Promise<VersionView> {
    const chosen = await this.chooseLatest(latest, readAll);
    if (chosen) return chosen;
    const reason = this.findReason(latest);
    throw this.#refuse(`No version of the node ${this.#nodeId} is offered: ${latest.version} ${reason}`);
  }

  #refuse(what: string): Refused {
    return new Refused('not_offered', `${what} by the rules of this registry.`);
  }
}

const ACTIVE = 'NodeVersionStatusActive';
