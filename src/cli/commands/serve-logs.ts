import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { CommandContext } from './context.js';

/** Prints the log of background services; with `--json` as a list. */
export async function run({ folders, output }: CommandContext): Promise<void> {
  const logFile = folders.serviceLog;
  const isThere = existsSync(logFile);
  if (output.mode.json) {
    const lines = isThere ? (await readFile(logFile, 'utf8')).split('\n').filter(Boolean) : [];
    return output.answer(lines.map(parseEntry));
  }
  if (!isThere) return output.note(`The log is empty. It will be written to ${logFile}.`);
  for await (const chunk of createReadStream(logFile)) await output.write(chunk);
}

/** The service logs objects; any other line is a message. */
function parseEntry(line: string): object {
  try {
    const value = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch {}
  return { message: line };
}
