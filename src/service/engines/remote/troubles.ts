import type { RemoteServer } from './remote-server.js';

/** Why a server that makes results does not, since when. */
interface Trouble {
  /** Its host. */
  readonly vendor: string;
  readonly reason: string;
  readonly since: string;
}

/** It does not answer as expected, or it refuses the account or the key of the operator. */
type TroubleKind = 'silence' | 'account';

/** For how long a trouble is known after the time at which a waiting task should have met it again. */
const MARGIN_MS = 30_000;

/** What the servers of engines do not do for this service now, for its operator. */
export class EngineTroubles {
  readonly #found = new Map<string, Trouble & { readonly until: number }>();

  /** @param againMs the longest time until a waiting task meets it again; absent: it is known until it ends */
  begin(
    { baseUrl }: RemoteServer,
    kind: TroubleKind,
    reason: string,
    now: number,
    againMs = Number.POSITIVE_INFINITY,
  ): void {
    const { host } = new URL(baseUrl);
    const known = this.#found.get(`${kind} ${host}`);
    const since = known && known.until > now ? known.since : new Date(now).toISOString();
    this.#found.set(`${kind} ${host}`, { vendor: host, reason, since, until: now + againMs + MARGIN_MS });
  }

  end({ baseUrl }: RemoteServer, ...kinds: readonly TroubleKind[]): void {
    for (const kind of kinds) this.#found.delete(`${kind} ${new URL(baseUrl).host}`);
  }

  list(now: number): readonly Trouble[] {
    return [...this.#found.values()].flatMap(({ until, ...trouble }) => (until > now ? [trouble] : []));
  }
}
