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

/** What the servers of engines do not do for this service now, for its operator. */
export class EngineTroubles {
  readonly #found = new Map<string, Trouble>();

  begin({ baseUrl }: RemoteServer, kind: TroubleKind, reason: string, now: number): void {
    const { host } = new URL(baseUrl);
    const since = this.#found.get(`${kind} ${host}`)?.since ?? new Date(now).toISOString();
    this.#found.set(`${kind} ${host}`, { vendor: host, reason, since });
  }

  end({ baseUrl }: RemoteServer, ...kinds: readonly TroubleKind[]): void {
    for (const kind of kinds) this.#found.delete(`${kind} ${new URL(baseUrl).host}`);
  }

  list(): readonly Trouble[] {
    return [...this.#found.values()];
  }
}
