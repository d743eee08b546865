import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';

const require = createRequire(import.meta.url);

/**
 * Streams of large files leave short-lived garbage by the megabyte; a young generation that stays small is swept before
 * it fills memory, at no cost in time that could be measured. The HTTP parser is WebAssembly: after the first response
 * the engine would optimize it, which takes longer than all else that a command does.
 */
const FLAGS = ['--semi-space-growth-factor=1', '--wasm-tiering-budget=2000000000'];

/**
 * Tunes the engine for a command. Node.js keeps the code of its modules for other flags, and compiles those that are
 * loaded later.
 *
 * @param modules of Node.js that the command needs and that may not be loaded
 */
export function tuneEngine(modules: readonly string[] = []): void {
  for (const name of modules) require(`node:${name}`);
  for (const flag of FLAGS) setFlagsFromString(flag);
}
