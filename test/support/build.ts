import { bundle } from '../../scripts/bundle.js';

/** Tests that start the program run what the sources say now. */
export async function setup(): Promise<void> {
  await bundle();
}
