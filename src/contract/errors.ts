import { z } from 'zod';
import { errorCodes } from './error-codes.js';
import { defineObject } from './schema/values.js';

/** One problem of a request. Paths are dotted: `node_version.version`, `node_versions.3.version`. */
export const ErrorDetail = z.object({ path: z.string(), message: z.string() });

export const ErrorBody = defineObject('Error', {
  error: z.string().meta({
    description: 'Stable code',
    'x-codes': Object.fromEntries(Object.entries(errorCodes).map(([code, { meaning }]) => [code, meaning])),
  }),
  message: z.string().describe('What is wrong, in one sentence'),
  details: z.array(ErrorDetail).optional(),
});

export type ErrorBody = z.infer<typeof ErrorBody>;
