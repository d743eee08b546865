import { basename, dirname, resolve } from 'node:path';
import { isRecord } from '../../contract/json.js';
import { namingNames } from '../../contract/naming/load-naming.js';
import { say } from '../../contract/schema/message.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { readGivenFile, UnfitFileError } from '../../disk/folder-file.js';
import { describeTomlError } from '../../pack/toml-error.js';
import { usage } from '../terminal/failure.js';

const NAMINGS: readonly string[] = namingNames;

/**
 * Reads the configuration of a service, JSON or TOML by its name; the service validates it. Its paths are relative to
 * the file.
 * @throws Failure if it cannot be read
 */
export async function readConfiguration(path: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await readDocument(path);
  if (!isRecord(value)) throw usage(`${path} is not a configuration: it must be an object.`);
  return resolvePaths(value, dirname(path));
}

/** Adds the line of the file to each problem that a service found with its configuration. */
export async function locateProblems(problems: readonly Problem[], path: string): Promise<Problem[]> {
  const text = path.endsWith('.toml') ? await readFileText(path) : '';
  const { createLineFinder } = await import('./toml-lines.js');
  const findLine = await createLineFinder(text);
  return problems.map(({ message, ...problem }) => {
    const line = findLine(problem.path);
    return {
      ...problem,
      message: line ? say`${message} (${basename(path)}, line ${String(line)})` : message,
    };
  });
}

/** Resolves the paths in settings, which are not validated yet. */
export function resolvePaths(
  settings: Readonly<Record<string, unknown>>,
  folder: string,
): Record<string, unknown> {
  const { data, naming, uplink, generation } = settings;
  const toPath = (value: unknown) =>
    typeof value === 'string' && value !== '' ? resolve(folder, value) : value;
  const toNaming = (value: unknown) => (NAMINGS.includes(value as string) ? value : toPath(value));
  // A name has no slash.
  const toVendor = (vendor: unknown) => (String(vendor).includes('/') ? toPath(vendor) : vendor);
  const toEngine = (engine: unknown): unknown =>
    isRecord(engine)
      ? {
          ...engine,
          ...('vendor' in engine && { vendor: toVendor(engine.vendor) }),
          ...('workflows' in engine && { workflows: toPath(engine.workflows) }),
        }
      : toPath(engine);
  const toEngines = (engines: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(engines).map(([name, engine]) => [
        name,
        name === 'operation' && isRecord(engine) ? toEngines(engine) : toEngine(engine),
      ]),
    );
  return {
    ...settings,
    ...(data !== undefined && { data: toPath(data) }),
    ...(naming !== undefined && { naming: toNaming(naming) }),
    ...(isRecord(generation) && { generation: toEngines(generation) }),
    ...(isRecord(uplink) && 'naming' in uplink && { uplink: { ...uplink, naming: toNaming(uplink.naming) } }),
  };
}

/** Reads a file: TOML if its name ends in .toml, otherwise JSON. @throws Failure if it cannot be read */
export async function readDocument(path: string): Promise<unknown> {
  const text = await readFileText(path);
  return path.endsWith('.toml') ? await parseToml(path, text) : parseJson(path, text);
}

async function readFileText(path: string): Promise<string> {
  try {
    return (await readGivenFile(path)).toString();
  } catch (error) {
    if (error instanceof UnfitFileError) throw error;
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
    const reason = describeTomlError(error, text);
    throw usage(`${path} is not valid TOML: line ${error.line}, column ${error.column}: ${reason}.`);
  }
}
