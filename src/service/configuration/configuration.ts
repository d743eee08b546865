import { z } from 'zod';
import { checkValue } from '../../contract/schema/check.js';
import { describeFields } from '../../contract/schema/fields.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { positiveInt } from '../../contract/schema/values.js';
import { MAX_TIMER_MS } from '../../wire/backoff.js';
import { ServerUrl } from '../network/secure-url.js';
import { checkEngines, GenerationSettings } from './generation-settings.js';
import { IssuerSettings } from './issuer-settings.js';
import { JOB_KINDS } from './job-kinds.js';
import { LimitSettings } from './limit-settings.js';
import { LOG_LEVELS, type LogLevel } from './log.js';
import { measure } from './measure.js';
import { nameNearest } from './nearest-setting.js';
import { PriceTable } from './price-table.js';
import { completeIssuer, PublishIssuerSettings } from './publish-issuer.js';
import { RetentionSettings } from './retention-settings.js';
import { checkS3, S3Settings } from './s3-settings.js';
import { checkSecret, createSecretSource, type Environment } from './secret-source.js';
import { InvalidConfiguration } from './start-errors.js';
import { UplinkSettings } from './uplink-settings.js';

const networks = (description: string) =>
  z
    .strictObject({
      allowedNetworks: z
        .array(
          z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
            error: 'must be a network such as 10.0.0.0/8',
          }),
        )
        .default([])
        .describe(
          `Networks that are not public and ${description}: 10.0.0.0/8. Loopback, link-local and metadata addresses only count if each is listed as a single address`,
        ),
    })
    .prefault({});
const port = () => z.int().min(0).max(65_535);
const milliseconds = (example?: string) =>
  measure('milliseconds', z.int().min(0).max(MAX_TIMER_MS), { example });

/** The settings of a service. Every default suits a single machine. */
export const Configuration = z.strictObject({
  data: z
    .string()
    .min(1)
    .optional()
    .meta({ examples: ['/var/lib/regen'] })
    .describe(
      'The folder of the database, archives and keys, relative to the configuration file. Default: $XDG_DATA_HOME/regen',
    ),
  database: z
    .string()
    .regex(/^postgres(ql)?:\/\/./, { error: 'must be a URL such as postgres://regen@db.example.com/regen' })
    .optional()
    .meta({ examples: ['postgres://regen@db.example.com/regen'] })
    .describe(
      'A PostgreSQL database, which several services may share: postgres://user@host/name. Keep a password out of files that people share: set the variable, or a PGPASSFILE. Default: a file in the data folder',
    ),
  storage: z
    .string()
    .regex(/^(s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?|\/.+|[A-Za-z]:[\\/].+)$/, {
      error: 'must be a bucket such as s3://name or s3://name/prefix, or the absolute path of a folder',
    })
    .optional()
    .meta({ examples: ['s3://name/prefix'] })
    .describe(
      'Where archives and files of tasks are: an S3 bucket, s3://name/prefix, or a folder as an absolute path. Services that share a database need one that they share too. Default: a folder in the data folder',
    ),
  s3: S3Settings.prefault({}),
  host: z.string().min(1).default('127.0.0.1').describe('The address to listen on'),
  port: port().default(0).describe('The port to listen on; 0 for any free one'),
  publicUrl: ServerUrl.optional()
    .meta({ examples: ['https://registry.example.com'] })
    .describe('Where clients reach the service, if not at its host and port'),
  /** The version of the software, for `service.json` and the OpenAPI document. */
  version: z.string().default('0.0.0'),
  issuers: z
    .array(IssuerSettings)
    .superRefine((issuers, context) => {
      const names = issuers.map(({ issuer }) => issuer);
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) continue;
        context.addIssue({ code: 'custom', path: [index, 'issuer'], message: 'must not appear twice' });
      }
    })
    .default([])
    .describe(
      'Identity providers whose tokens are accepted, such as [{ issuer = "https://login.example.com", clientId = "regen" }]; users sign in at the first',
    ),
  naming: z
    .string()
    .min(1)
    .default('regen')
    .describe(
      'The names of another service in which requests are answered as well: comfy, or the path of a naming file; regen for none',
    ),
  registry: z
    .strictObject({
      read: z
        .enum(['anyone', 'authenticated'])
        .default('anyone')
        .describe(
          'Who may read nodes, versions and archives; authenticated: only requests with a credential. The list of one publisher (node list) needs one in either case',
        ),
      semver: z
        .enum(['off', 'warn', 'enforce'])
        .default('off')
        .describe(
          'Patch and minor releases that break workflows saved with the version before: warn notes it in their status_reason, enforce flags them',
        ),
    })
    .prefault({}),
  uplink: UplinkSettings.optional(),
  publish: z
    .strictObject({
      // Decided: `optional` admits publish requests that carry only the body's personal_access_token.
      bearer: z
        .enum(['required', 'optional'])
        .default('required')
        .describe('Whether publishing needs a bearer token beside the personal access token'),
      issuers: z
        .array(PublishIssuerSettings)
        .default([])
        .describe('Issuers of the identities of CI jobs, which publishers may trust to publish'),
    })
    .prefault({}),
  prices: PriceTable.prefault({}).describe('Prices in credits'),
  generation: GenerationSettings.prefault({}).describe('What generates images and videos'),
  cors: z
    .strictObject({
      origins: z.array(ServerUrl).default([]).describe('Origins of web pages that may call the service'),
    })
    .prefault({}),
  webhooks: networks('that webhooks may be sent to'),
  inputs: networks('from which images and videos of requests may be fetched'),
  limits: LimitSettings.prefault({}).describe('Sizes and times of requests'),
  quotas: z
    .strictObject({
      tasksInFlight: positiveInt(100, 'Tasks of a user that have not ended'),
      pendingWebhooks: positiveInt(1_000, 'Tasks of a user with webhooks that are not delivered yet'),
      creditsPerMonth: z
        .int()
        .min(0)
        .optional()
        .meta({ examples: [500] })
        .describe(
          'Credits that the tasks of a user may cost per month, in UTC; `regen admin user set` changes it for one user. Default: no limit',
        ),
      publishers: positiveInt(20, 'Publishers that a user owns'),
      versionsPerDay: positiveInt(200, 'New versions of a publisher per day, in UTC'),
      bytesPerDay: measure('bytes', z.int().positive())
        .default(10 * 1024 ** 3)
        .describe('What a publisher uploads per day, with its node definitions, in UTC'),
      nodes: positiveInt(1_000, 'Nodes of a publisher, deleted ones too'),
      members: positiveInt(200, 'Members and invitations of a publisher'),
      invitationsPerDay: positiveInt(200, 'Invitations that a user sends within a day'),
      tokens: positiveInt(200, 'Personal access tokens of a publisher'),
      trusts: positiveInt(200, 'CI jobs that a publisher trusts'),
      keys: positiveInt(100, 'API keys of a user; one that was revoked or expired counts for another day'),
    })
    .prefault({})
    .describe('What one user or publisher may use; the embedded owner has no quotas'),
  retention: RetentionSettings,
  rateLimit: z
    .union([z.int().positive(), z.literal(false)], { error: 'must be a whole number above 0, or false' })
    .optional()
    .meta({ examples: [600] })
    .describe(
      'Requests per minute and user, or address without a credential; false for no limit. Default: 600 if the service listens beyond loopback or behind a proxy, otherwise no limit. The embedded owner has none',
    ),
  trustedProxies: z
    .union([z.int().min(0).max(20), z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]))], {
      error: 'must be a list of addresses and networks such as 10.0.0.0/8, or a number of proxies',
    })
    .default([])
    .describe(
      'The reverse proxies whose X-Forwarded-For tells clients apart: their addresses or networks (10.0.0.0/8), or how many a request passes. Without any, the header is ignored',
    ),
  work: z
    .array(z.enum(JOB_KINDS))
    .optional()
    .meta({ examples: [['check-archive', 'deliver-webhook']] })
    .describe(
      'The kinds of jobs that this service runs, [] for none, if it shares its database with others that run the rest. Default: all',
    ),
  /** Stops after being idle for this long; absent: runs until stopped. Milliseconds. */
  idleMs: z.int().positive().optional(),
  drainMs: milliseconds('5s')
    .optional()
    .describe(
      'How long requests are still served once stopping has begun and /ready answers 503, so that a load balancer notices. Default: 5s if the service listens beyond loopback or behind a proxy, otherwise 0s',
    ),
  logLevel: z
    .enum(LOG_LEVELS)
    .optional()
    .meta({ examples: ['info'] })
    .describe(
      'The least important lines of the log on stderr; info has a line for each request, publish, verdict and action of an admin. Default: info if the service listens beyond loopback or behind a proxy, otherwise warn',
    ),
  minFreeDiskBytes: measure('bytes', z.int().min(0))
    .default(100 * 1024 ** 2)
    .describe(
      'Free space on the disk of the data folder below which /ready answers 503 and no archive is taken',
    ),
  metrics: z
    .strictObject({
      port: port()
        .optional()
        .meta({ examples: [9464] })
        .describe(
          'A port for GET /metrics alone, 0 for any free one. Without it, /metrics is on the port of the service if there is a token, and otherwise off',
        ),
      host: z.string().min(1).default('127.0.0.1').describe('The address to listen on with that port'),
      token: createSecretSource('the token that Prometheus sends as a Bearer token', 'METRICS_TOKEN')
        .optional()
        .describe('Where the token that /metrics requires is read from'),
    })
    .prefault({}),
  graceMs: milliseconds().default(10_000).describe('How long stopping waits for requests and jobs to end'),
});

export type Configuration = z.output<typeof Configuration>;
export type ConfigurationInput = z.input<typeof Configuration>;

/** Whether others than the users of this machine can reach the service. */
export function isExposed({ host, trustedProxies }: Configuration): boolean {
  return !isLoopbackHost(host) || [trustedProxies].flat().some((proxy) => proxy !== 0);
}

export function getLogLevel(configuration: Configuration): LogLevel {
  return configuration.logLevel ?? (isExposed(configuration) ? 'info' : 'warn');
}

/** A CI job may ask for a token with any audience, so that it could sign in. */
function checkPublishIssuers({ issuers, publish }: Configuration): Problem[] {
  const named = publish.issuers.map((settings) => completeIssuer(settings));
  return named.flatMap(({ issuer, audience }, index) => {
    const path = (field: string) => ['publish', 'issuers', index, field];
    if (named.findIndex((one) => one.issuer === issuer) !== index)
      return [{ path: path('issuer'), message: 'must not appear twice' }];
    const isSame = issuers.some((one) => one.issuer === issuer && one.audience === audience);
    const message = 'must differ from that of the same issuer in issuers';
    return isSame ? [{ path: path('audience'), message }] : [];
  });
}

const WORK_ALONE =
  'needs a database that other services share, because nothing else would run the other jobs';

/**
 * Validates a configuration and fills in the defaults.
 * @throws InvalidConfiguration with everything that is wrong
 */
export async function parseConfiguration(
  input: ConfigurationInput,
  env: Environment,
): Promise<Configuration> {
  const checked = checkValue(Configuration, input);
  if (!checked.ok) {
    const fields = describeFields(Configuration);
    throw new InvalidConfiguration(checked.problems.map((problem) => nameNearest(problem, fields)));
  }
  const { generation, metrics } = checked.value;
  const isAlone = checked.value.database === undefined;
  const problems = [
    ...(isAlone && checked.value.work ? [{ path: ['work'], message: WORK_ALONE }] : []),
    ...(await checkEngines(generation, env)),
    ...checkPublishIssuers(checked.value),
    ...checkS3(checked.value, env),
    ...(metrics.token ? checkSecret(metrics.token, env, { path: ['metrics', 'token'], what: 'token' }) : []),
  ];
  if (problems.length > 0) throw new InvalidConfiguration(problems);
  return checked.value;
}
