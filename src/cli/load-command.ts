import type { RunCommand } from './connect/context.js';
import type { View } from './views/view.js';

/** A file of `commands/`: commands that are written by hand, or the run of those that a view names it for. */
export interface CommandFile {
  /** A function, so that the program, which reads the built tree instead, leaves it out. */
  readonly view?: () => View | readonly View[];
  /** A file with several commands has them by their last words. */
  readonly run: RunCommand | Readonly<Record<string, RunCommand>>;
}

/** Loads a file of `commands/`. The build writes out the imports: see scripts/bundle.ts. */
export const loadCommand = (name: string): Promise<CommandFile> => import(`./commands/${name}.ts`);
