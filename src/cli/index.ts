import { main } from './main.js';
import { realSystem } from './terminal/system.js';

/** The command line as bin/regen.js runs it. */
export function run(argv: readonly string[], entry: string): Promise<number> {
  return main(argv, realSystem(entry));
}
