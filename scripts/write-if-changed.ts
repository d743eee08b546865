import { readFileSync, writeFileSync } from 'node:fs';

/** Writes a value as JSON, unless the file has it: tests that run at the same time may read it. */
export function writeIfChanged(path: string, value: unknown): void {
  const text = JSON.stringify(value);
  if (text !== readIfPresent(path)) writeFileSync(path, text);
}

export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
