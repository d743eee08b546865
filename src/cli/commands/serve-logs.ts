import { createReadStream, existsSync } from 'node:fs';
import type { Invocation } from '../invocation.js';

/** Prints what services in the background wrote. */
export async function run({ logFile, output }: Invocation): Promise<void> {
  if (!existsSync(logFile)) return output.note(`Nothing is logged yet; the log will be ${logFile}.`);
  for await (const chunk of createReadStream(logFile)) await output.write(chunk);
}
