import { statfs } from 'node:fs/promises';
import type { Server, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { errorCodes } from '../../contract/error-codes.js';
import { isSameSecret } from '../../wire/same-secret.js';
import type { Count, CountedEvent } from '../configuration/log.js';
import type { Database, QueryObserver } from '../database/database.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { getRequestFacts } from './access-log.js';
import { createHttpServer } from './create-server.js';
import { createHostCheck } from './cross-origin.js';
import { listenOn } from './listen.js';

/** What a scrape reads. */
interface ScrapedStore extends Pick<Context, 'database' | 'now' | 'scratch'> {
  readonly instance: string;
  readonly kinds: readonly string[];
}

interface MetricsRoute {
  readonly store: ScrapedStore;
  readonly configuration: Context['configuration'];
  /** What scrapes must send as a Bearer token; undefined if anyone who reaches the address may read. */
  readonly token: string | undefined;
}

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
const QUERY_SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** The metrics of one service, in the text format of Prometheus. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#createHistogram('http_request_duration_seconds', {
    help: 'Requests by route and status, and how long they took',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
  });
  readonly #queries = this.#createHistogram('database_query_seconds', {
    help: 'Statements sent to the database, by their first word, and how long they took',
    labelNames: ['statement'],
    buckets: QUERY_SECONDS,
  });
  readonly #events: Readonly<Record<CountedEvent, Counter>> = {
    leases_lost: this.#createCounter('leases_lost', 'Jobs whose lease another service took', ['kind']),
    webhook_attempts: this.#createCounter('webhook_attempts', 'Attempts to deliver a webhook', ['outcome']),
    vendor_errors: this.#createCounter('vendor_errors', 'Errors of vendors: retried, or the end of a task', [
      'vendor',
      'outcome',
    ]),
  };
  readonly #jobs = this.#createGauge('jobs', 'Jobs that are due, scheduled for later, or running here', [
    'kind',
    'state',
  ]);
  readonly #oldest = this.#createGauge('jobs_oldest_due_seconds', 'How long the oldest due job has waited', [
    'kind',
  ]);
  readonly #credits = this.#createGauge(
    'credits_this_month',
    'Credits charged for tasks of this month, in UTC, and refunded; the same in all services of a database',
    ['entry'],
  );
  readonly #disk = this.#createGauge('disk_bytes', 'The disk of the data folder', ['state']);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  readonly count: Count = (event, labels = {}) => this.#events[event].inc(labels);

  readonly observeQuery: QueryObserver = (text, ms) => {
    const statement = /^\w+/.exec(text)?.[0].toLowerCase() ?? 'other';
    this.#queries.observe({ statement }, ms / 1000);
  };

  /** Adds GET /metrics to a server, or to one of its own if the configuration names a port. @returns its address */
  async route(
    app: FastifyInstance,
    { store, configuration, token }: MetricsRoute,
  ): Promise<string | undefined> {
    const { port, host } = configuration.metrics;
    this.#watchRequests(app.server);
    const own = port === undefined ? undefined : createServer({ ...configuration, host });
    (own ?? app).get('/metrics', async ({ headers: { authorization = '' } }, reply) => {
      if (token !== undefined && !isSameSecret(authorization, `Bearer ${token}`))
        throw new Refused(
          'unauthenticated',
          'Metrics require their token as `Authorization: Bearer <token>`.',
        );
      await Promise.all([this.#readJobs(store), this.#readCredits(store), this.#readDisk(store)]);
      return reply.type(this.#registry.contentType).send(await this.#registry.metrics());
    });
    if (!own || port === undefined) return undefined;
    app.addHook('onClose', () => own.close());
    return listenOn(own, { host, port });
  }

  #watchRequests(server: Server): void {
    server.prependListener('request', (request, response: ServerResponse) => {
      const start = performance.now();
      response.once('close', () => {
        // Only routes that exist, so that clients cannot make up labels.
        const { route = 'none' } = getRequestFacts(request);
        const method = route === 'none' ? 'any' : request.method;
        const seconds = (performance.now() - start) / 1000;
        this.#requests.observe({ method, route, status: response.statusCode }, seconds);
      });
    });
  }

  async #readJobs({ database, now, instance, kinds }: ScrapedStore): Promise<void> {
    const rows = await listJobStates(database, instance, now());
    for (const kind of kinds) {
      const { due = 0, later = 0, running = 0, since = null } = rows.find((row) => row.kind === kind) ?? {};
      this.#jobs.set({ kind, state: 'due' }, Number(due));
      this.#jobs.set({ kind, state: 'scheduled' }, Number(later));
      this.#jobs.set({ kind, state: 'running' }, Number(running));
      const waited = since === null ? 0 : (now() - Date.parse(since)) / 1000;
      this.#oldest.set({ kind }, Math.max(waited, 0));
    }
  }

  async #readCredits({ database, now }: ScrapedStore): Promise<void> {
    const rows = await database
      .selectFrom('credits')
      .select(['kind', ({ fn }) => fn.sum<number>('amount').as('amount')])
      .where('month', '=', new Date(now()).toISOString().slice(0, 7))
      .groupBy('kind')
      .execute();
    for (const entry of ['charge', 'refund']) {
      const some = rows.filter(({ kind }) => (kind === 'charge') === (entry === 'charge'));
      const sum = some.reduce((all, { amount }) => all + Number(amount), 0);
      this.#credits.set({ entry }, sum);
    }
  }

  async #readDisk({ scratch }: ScrapedStore): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(scratch);
    this.#disk.set({ state: 'free' }, bavail * bsize);
    this.#disk.set({ state: 'total' }, blocks * bsize);
  }

  #createHistogram(
    name: string,
    options: { help: string; labelNames: readonly string[]; buckets: number[] },
  ): Histogram {
    return new Histogram({ name: `regen_${name}`, registers: [this.#registry], ...options });
  }

  #createCounter(name: string, help: string, labelNames: readonly string[]): Counter {
    return new Counter({ name: `regen_${name}_total`, help, labelNames, registers: [this.#registry] });
  }

  #createGauge(name: string, help: string, labelNames: readonly string[]): Gauge {
    return new Gauge({ name: `regen_${name}`, help, labelNames, registers: [this.#registry] });
  }
}

interface JobStates {
  readonly kind: string;
  readonly due: number;
  readonly later: number;
  readonly running: number;
  /** Since when the oldest due job waits, as ISO 8601; null if none does. */
  readonly since: string | null;
}

async function listJobStates(database: Database, instance: string, now: number): Promise<JobStates[]> {
  const time = new Date(now).toISOString();
  const isDue = sql`leased_by is null and run_at <= ${time}`;
  // A job without a time of its own has been due since it was created.
  const { rows } = await sql<JobStates>`select kind,
      sum(case when ${isDue} then 1 else 0 end) as due,
      sum(case when leased_by is null and run_at > ${time} then 1 else 0 end) as later,
      sum(case when leased_by = ${instance} then 1 else 0 end) as running,
      min(case when ${isDue} then case when run_at > created_at then run_at else created_at end end) as since
    from jobs group by kind`.execute(database);
  return rows;
}

/** Creates a server for scrapes alone, which answers refusals without a body. */
function createServer(configuration: Context['configuration']): FastifyInstance {
  const server = createHttpServer({ forceCloseConnections: true });
  const isHostAllowed = createHostCheck({ configuration });
  server.addHook('onRequest', async ({ headers }) => {
    if (!isHostAllowed(headers.host))
      throw new Refused('host_not_allowed', 'This address is for this machine.');
  });
  server.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof Refused ? errorCodes[error.code].status : 503).send(),
  );
  return server;
}
