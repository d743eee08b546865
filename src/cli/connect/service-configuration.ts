import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { namingNames } from '../../contract/naming/load-naming.js';
import { usage } from '../terminal/failure.js';

const NAMINGS: readonly string[] = namingNames;

/**
 * Reads the configuration of a service, JSON or TOML by its name; the service validates it. The data folder and a
 * naming file are relative to the file.
 * @throws Failure if it cannot be read
 */
export async function readConfiguration(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readDocument(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usage(`${path} is not a configuration: it must be an object.`);
  const { data, naming } = value as { data?: unknown; naming?: unknown };
  const isFile = typeof naming === 'string' && naming !== '' && !NAMINGS.includes(naming);
  return {
    ...value,
    ...(typeof data === 'string' && data !== '' && { data: resolve(dirname(path), data) }),
    ...(isFile && { naming: resolve(dirname(path), naming) }),
  };
}

/** Reads a file: TOML if its name ends in .toml, otherwise JSON. @throws Failure if it cannot be read */
export async function readDocument(path: string): Promise<unknown> {
  const text = readFileText(path);
  return path.endsWith('.toml') ? await parseToml(path, text) : parseJson(path, text);
}

function readFileText(path: string): string {
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
