import validRange from 'semver/ranges/valid.js';
import { z } from 'zod';
import { splitNodeVersion } from '../../contract/schema/node-id.js';
import { SecureUrl } from '../network/secure-url.js';

/** Whether what follows an `@` is a range of versions. */
const isRule = (rule: string) => {
  const [pattern, range] = splitNodeVersion(rule);
  return range === undefined || (pattern !== '' && range.trim() !== '' && validRange(range) !== null);
};

/** The registry behind this one. */
export const UplinkSettings = z.strictObject({
  url: SecureUrl.meta({ examples: ['https://api.comfy.org'] }).describe(
    'The registry that is asked about nodes that are not held here',
  ),
  naming: z
    .string()
    .min(1)
    .default('regen')
    .describe('Its names: comfy for the ComfyUI registry, or the path of a naming file'),
  allow: z
    .array(z.string().min(1).max(200))
    .default(['*'])
    .describe('Ids of the nodes that may come from there; * stands for any characters'),
  deny: z
    .array(
      z
        .string()
        .min(1)
        .max(200)
        .refine(isRule, { error: 'must be an id, or id@range such as pack@>=2 <2.1' }),
    )
    .default([])
    .describe(
      'Ids of the nodes that may not, even if allowed; with a range of versions, such as pack@>=2 <2.1, only those versions',
    ),
  minAgeDays: z
    .number()
    .min(0)
    .max(3650)
    .default(0)
    .describe('Days that a version of a node there must be old before it is offered here'),
  asOf: z
    .union([z.iso.date(), z.iso.datetime()], { error: 'must be a date such as 2026-11-01' })
    .optional()
    .meta({ examples: ['2026-11-01'] })
    .describe('Only versions that were there at this date or time (UTC): 2026-11-01'),
});
