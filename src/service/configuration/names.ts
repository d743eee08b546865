import { readFileSync } from 'node:fs';
import { InvalidNaming, loadNaming } from '../../contract/naming/load-naming.js';
import type { Naming } from '../../contract/naming/naming.js';
import type { Configuration } from './configuration.js';
import { InvalidConfiguration } from './start-errors.js';

/** The names of other services; undefined for the names of the contract. */
export interface Names {
  /** In which requests are answered as well. */
  readonly naming: Naming | undefined;
  /** Of the registry behind this one. */
  readonly uplinkNaming: Naming | undefined;
}

/** @throws InvalidConfiguration */
export async function loadNames({ naming, uplink }: Configuration): Promise<Names> {
  return {
    naming: await readNaming(naming, ['naming']),
    uplinkNaming: uplink && (await readNaming(uplink.naming, ['uplink', 'naming'])),
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
