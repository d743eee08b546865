import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { Problem } from '../../contract/schema/schema-types.js';

export type Environment = Readonly<Record<string, string | undefined>>;

// Decided: the secret itself is never in the configuration, which people share and commit.
/**
 * Declares where a secret is read from.
 * @param what what it is: `the key of the vendor`
 * @param variable a variable that may hold it
 */
export function createSecretSource(what: string, variable: string) {
  const form = `{ env = "${variable}" } or { file = "/path" }`;
  return z
    .strictObject(
      {
        env: z
          .string()
          .min(1)
          .optional()
          .meta({ examples: [variable] })
          .describe(`The environment variable with ${what}`),
        file: z
          .string()
          .refine(isAbsolute, { error: 'must be an absolute path' })
          .optional()
          .meta({ examples: [`/run/secrets/${variable.toLowerCase()}`] })
          .describe(`The file with ${what}, as an absolute path`),
      },
      {
        error: ({ code, input }) =>
          code !== 'invalid_type'
            ? undefined
            : input === undefined
              ? `is required: ${form}`
              : `must be ${form}; never the secret itself`,
      },
    )
    .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
      error: 'must name either an environment variable (env) or a file',
    });
}

export type SecretSource = z.output<ReturnType<typeof createSecretSource>>;

/** Reads a secret from the place that the configuration names; its existence is checked at start. */
export function readSecret(source: SecretSource, env: Environment): string {
  return (source.env === undefined ? readText(source.file as string) : env[source.env])?.trim() ?? '';
}

/**
 * Says what is wrong with a secret.
 * @param what its name in the sentence: `key`
 */
export function checkSecret(
  source: SecretSource,
  env: Environment,
  { path, what }: { readonly path: readonly string[]; readonly what: string },
): Problem[] {
  const secret = readSecret(source, env);
  if (/^[\x21-\x7e]+$/.test(secret)) return [];
  const { env: variable, file } = source;
  const place = variable === undefined ? `the file ${file}` : `the environment variable ${variable}`;
  const fault = secret === '' ? 'is missing or empty' : `does not contain a valid ${what}`;
  return [{ path: [...path], message: `names ${place}, which ${fault}` }];
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
