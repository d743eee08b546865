import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findBuiltProgram } from '../../disk/built-program.js';
import { loadWithCode } from '../../disk/kept-code.js';
import type { Folders } from '../connect/folders.js';

interface LoadedService {
  readonly service: typeof import('../../service/index.js');
  /** Keeps its compiled code for the next start. */
  keepCode(): void;
}

let loaded: Promise<LoadedService> | undefined;

/** Loads the service, with the code that was kept of an earlier start. */
export function loadService({ state }: Folders): Promise<LoadedService> {
  loaded ??= load(join(state, 'code'));
  return loaded;
}

async function load(folder: string): Promise<LoadedService> {
  if (!import.meta.url.endsWith('.cjs'))
    return { service: await import('../../service/index.js'), keepCode() {} };
  const keepCode = loadWithCode(findBuiltProgram('service-start.cjs'), folder);
  return { service: createRequire(import.meta.url)(findBuiltProgram('service.cjs')), keepCode };
}
