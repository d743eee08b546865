import { z } from 'zod';
import { limits } from '../contract/limits.js';
import { IssuerSettings } from './auth/issuer-settings.js';
import { GenerationSettings } from './generation/engines/settings.js';
import { PriceTable } from './generation/price-table.js';

const Limits = z.object(
  Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [name, z.number().positive().default(value)]),
  ) as {
    [Name in keyof typeof limits]: z.ZodDefault<z.ZodNumber>;
  },
);

/** Everything that changes how a service runs. Every field has a default fit for one machine. */
export const Configuration = z.strictObject({
  /** Folder of the database, the archives and the keys; absent: a temporary one, removed at the end. */
  data: z.string().min(1).optional(),
  host: z.string().min(1).default('127.0.0.1'),
  /** 0: a free one. */
  port: z.int().min(0).max(65_535).default(0),
  /** Where clients reach the service, if not at its own host and port. */
  publicUrl: z.url().optional(),
  /** Version of the software, for `service.json` and the OpenAPI document. */
  version: z.string().default('0.0.0'),
  /** Identity providers whose tokens are accepted; people sign in at the first. */
  issuers: z
    .array(IssuerSettings)
    .superRefine((issuers, context) => {
      const names = issuers.map(({ issuer }) => issuer);
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) continue;
        context.addIssue({ code: 'custom', path: [index, 'issuer'], message: 'is there twice' });
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
  /** Who makes images and videos. */
  generation: GenerationSettings.prefault({}),
  cors: z.strictObject({ origins: z.array(z.url()).default([]) }).prefault({}),
  limits: Limits.prefault({}),
  /** Requests a minute of one caller; absent: no limit. */
  rateLimit: z.int().positive().optional(),
  /** Ends after so long without a request or work; absent: runs until stopped. Milliseconds. */
  idleMs: z.int().positive().optional(),
  /** How long a stop waits for requests and jobs to end. Milliseconds. */
  graceMs: z.int().min(0).default(10_000),
});

export type Configuration = z.output<typeof Configuration>;
export type ConfigurationInput = z.input<typeof Configuration>;
