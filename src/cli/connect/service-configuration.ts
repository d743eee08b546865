import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { usage } from '../terminal/failure.js';

/**
 * Reads the configuration of a service, JSON or TOML by its name; the service validates it. The data folder is relative
 * to the file.
 * @throws Failure if it cannot be read
 */
export async function readConfiguration(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = readConfigurationText(path);
  const value = path.endsWith('.toml') ? await parseToml(path, text) : parseJson(path, text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage(`${path} is not a configuration: it must be an object.`);
  const { data } = value as { data?: unknown };
  return { ...value, ...(typeof data === 'string' && data !== '' && { data: resolve(dirname(path), data) }) };
}

function readConfigurationText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usage(code === 'ENOENT' ? `File not found: ${path}.` : `Could not read ${path}: ${code}.`);
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${path} is not valid JSON: ${(error as Error).message}.`);
  }
}

async function parseToml(path: string, text: string): Promise<unknown> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw usage(`${path} is not valid TOML: line ${error.line}, column ${error.column}.`);
  }
}
