import { readFileSync } from 'node:fs';
import { InvalidNaming, loadNaming } from '../../contract/naming/load-naming.js';
import type { Naming } from '../../contract/naming/naming.js';
import type { Configuration } from './configuration.js';
import { InvalidConfiguration } from './start-errors.js';

/** What this service does as other services do: the one whose requests it answers as well, and the one behind it. */
export interface Compatibility {
  /** The names in which requests are answered as well; undefined: in those of the contract only. */
  readonly requests: Naming | undefined;
  /** The names of the registry behind this one, likewise. */
  readonly uplink: Naming | undefined;
  /** A header whose value counts as a bearer token, in lower case. */
  readonly apiKeyHeader: string | undefined;
  /** Publishing needs only the personal access token in the body. */
  readonly publishWithoutBearer: boolean;
  /** What has no version `1.2` is looked for under `1.2.0`. */
  readonly completeVersions: boolean;
}

/** @throws InvalidConfiguration */
export async function loadCompatibility({ naming, publish, uplink }: Configuration): Promise<Compatibility> {
  const requests = await readNaming(naming, ['naming']);
  const behind = uplink && (await readNaming(uplink.naming, ['uplink', 'naming']));
  const { apiKeyHeader, publishWithoutBearer, completeVersions = false } = requests?.behaviors ?? {};
  return {
    requests,
    uplink: behind,
    apiKeyHeader,
    publishWithoutBearer: publish.bearer === 'optional' || publishWithoutBearer === true,
    completeVersions: completeVersions || behind?.behaviors.completeVersions === true,
  };
}

async function readNaming(name: string, setting: readonly string[]): Promise<Naming | undefined> {
  try {
    return await loadNaming(name, (path) => readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === undefined ? message : `names ${name}, which cannot be read (${code})`;
    const problems = error instanceof InvalidNaming ? error.problems : [{ path: [], message: reason }];
    throw new InvalidConfiguration(
      problems.map(({ path, message }) => ({ path: [...setting, ...path], message })),
    );
  }
}
