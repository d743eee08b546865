import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { GenerationSettings } from './generation-settings.js';
import { IssuerSettings } from './issuer-settings.js';
import { PriceTable } from './price-table.js';

const Limits = z.object(
  Object.fromEntries(
    Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, z.number().positive().default(value)]),
  ) as {
    [Name in keyof typeof DEFAULT_LIMITS]: z.ZodDefault<z.ZodNumber>;
  },
);

/** The settings of a service. Every default suits a single machine. */
export const Configuration = z.strictObject({
  /** The folder of database, archives and keys; absent: a temporary one, removed when the service ends. */
  data: z.string().min(1).optional(),
  host: z.string().min(1).default('127.0.0.1'),
  /** 0: any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Where clients reach the service, if not at its host and port. */
  publicUrl: z.url().optional(),
  /** The version of the software, for `service.json` and the OpenAPI document. */
  version: z.string().default('0.0.0'),
  /** Identity providers whose tokens are accepted; users sign in at the first. */
  issuers: z
    .array(IssuerSettings)
    .superRefine((issuers, context) => {
      const names = issuers.map(({ issuer }) => issuer);
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) continue;
        context.addIssue({ code: 'custom', path: [index, 'issuer'], message: 'must not appear twice' });
      }
    })
    .default([]),
  publish: z
    .strictObject({
      // Decided: `optional` admits publish requests that carry only the body's personal_access_token.
      bearer: z.enum(['required', 'optional']).default('required'),
    })
    .prefault({}),
  /** Credits. */
  prices: PriceTable.prefault({}),
  /** What generates images and videos. */
  generation: GenerationSettings.prefault({}),
  cors: z.strictObject({ origins: z.array(z.url()).default([]) }).prefault({}),
  limits: Limits.prefault({}),
  /** What one user or publisher may use; the embedded owner has no quotas. */
  quotas: z
    .strictObject({
      /** Tasks of a user that have not ended. */
      tasksInFlight: z.int().positive().default(100),
      /** Tasks of a user with webhooks that are not delivered yet. */
      pendingWebhooks: z.int().positive().default(1_000),
      /** Publishers that a user owns. */
      publishers: z.int().positive().default(20),
      /** New versions of a publisher per day, in UTC. */
      versionsPerDay: z.int().positive().default(200),
      /** Bytes that a publisher uploads per day, in UTC. */
      bytesPerDay: z
        .int()
        .positive()
        .default(10 * 1024 ** 3),
    })
    .prefault({}),
  /**
   * Requests per minute and caller; false: no limit. Absent: 600 if the service listens beyond loopback or
   * behind a proxy, else no limit. The embedded owner has none.
   */
  rateLimit: z.union([z.int().positive(), z.literal(false)]).optional(),
  /**
   * The reverse proxies whose X-Forwarded-For tells clients apart: their addresses or networks (10.0.0.0/8), or
   * how many the requests pass. Default: none, and the header is ignored.
   */
  trustedProxies: z
    .union([z.int().min(0).max(20), z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))], {
      error: 'must be a list of addresses and networks such as 10.0.0.0/8, or a number of proxies',
    })
    .default([]),
  /** Stops after being idle for this long; absent: runs until stopped. Milliseconds. */
  idleMs: z.int().positive().optional(),
  /** How long stopping waits for requests and jobs to end. Milliseconds. */
  graceMs: z.int().min(0).default(10_000),
});

export type Configuration = z.output<typeof Configuration>;
export type ConfigurationInput = z.input<typeof Configuration>;
