import { main } from './main.js';
import { createSystem } from './terminal/system.js';

/** Runs the command line for bin/regen.js. */
export function run(argv: readonly string[], entry: string): Promise<number> {
  return main(argv, createSystem(entry));
}
