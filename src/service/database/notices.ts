import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Tx } from './database.js';
import { endConnections, isPostgres, KEEP_ALIVE, SERVICE_LOCK, WATCH_CONNECTION } from './postgres.js';

/** What services that share a database tell each other. */
export type NoticeTopic = 'jobs' | 'keys';

const CHANNEL = 'regen';
const RECONNECT_MS = 1_000;

/** Tells all services that share the database, this one too, once the transaction is committed. */
export async function sendNotice(tx: Tx, topic: NoticeTopic): Promise<void> {
  if (isPostgres(tx)) await sql`select pg_notify(${CHANNEL}, ${topic})`.execute(tx);
}

/** Receives the notices of a database; an embedded one keeps them within its process. */
export class Notices {
  readonly #listeners = new EventEmitter().setMaxListeners(0);
  #client: Client | undefined;
  #socket: Socket | undefined;
  #isClosed = false;

  /** @param listener is also called after notices may have been missed */
  on(topic: NoticeTopic, listener: () => void): () => void {
    this.#listeners.on(topic, listener);
    return () => void this.#listeners.off(topic, listener);
  }

  /** Listens from now on, over a connection of its own, and again after it was lost. */
  async listen(url: string, onError: (error: Error) => void): Promise<void> {
    const { default: pg } = await import('pg');
    const socket = new Socket();
    const client = new pg.Client({ connectionString: url, stream: () => socket, ...KEEP_ALIVE });
    [this.#client, this.#socket] = [client, socket];
    const lost = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('error', onError);
    // Earlier releases send a space after the topic.
    client.on('notification', ({ payload = '' }) => this.#listeners.emit(payload.trim()));
    await client.connect();
    await client.query(`${WATCH_CONNECTION}; listen ${CHANNEL}`);
    // As long as the connection lasts: no newer release changes the data of a service that cannot go on afterwards.
    await client.query(`select pg_advisory_lock_shared(${SERVICE_LOCK})`);
    void lost.then(() => this.#listenAgain(url, onError));
  }

  async #listenAgain(url: string, onError: (error: Error) => void): Promise<void> {
    while (!this.#isClosed) {
      await pause(RECONNECT_MS, undefined, { ref: false });
      if (this.#isClosed) return;
      try {
        await this.listen(url, onError);
        for (const topic of this.#listeners.eventNames()) this.#listeners.emit(topic);
        return;
      } catch (error) {
        void this.#client?.end().catch(() => {});
        onError(error as Error);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#client && this.#socket) await endConnections(this.#client.end(), [this.#socket]);
  }
}
