import type { CodeReport } from '../../src/python/code-report.js';
import type { Definitions } from '../../src/python/definitions/definitions.js';
import { extractDefinitions } from '../../src/python/definitions/extract.js';
import { loadPythonParser } from '../../src/python/definitions/grammar.js';
import { PackModules } from '../../src/python/definitions/pack-modules.js';
import { readModule } from '../../src/python/definitions/statements.js';
import { createCodeReader } from '../../src/python/read-code.js';

/** Reads a pack that is given as texts, or bytes, by path. */
export async function readPackCode(files: Readonly<Record<string, string | Buffer>>): Promise<CodeReport> {
  const reader = await createCodeReader();
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    if (reader.wanted(path, bytes.length)) await reader.read(path, bytes);
  }
  return reader.finish();
}

/** The nodes of a pack by name, with the fields parsed that are JSON text. */
export async function readPackNodes(files: Readonly<Record<string, string>> | string) {
  const report = await readPackCode(typeof files === 'string' ? { '__init__.py': files } : files);
  const parsed = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text));
  return Object.fromEntries(
    report.nodes.map(({ name, definition, unknown, ...place }) => [
      name,
      {
        ...place,
        ...definition,
        input_types: parsed(definition.input_types),
        return_types: parsed(definition.return_types),
        return_names: parsed(definition.return_names),
        unknown,
      },
    ]),
  );
}

/** Follows a pack with few steps, and measures the CPU time that they take. */
export async function followWithin(
  total: number,
  files: Readonly<Record<string, string>>,
): Promise<Definitions & { readonly cpuMs: number }> {
  const parse = await loadPythonParser();
  const modules = new PackModules();
  for (const [path, text] of Object.entries(files)) {
    const source = { path, text, firstLine: 1 };
    parse(text, (root) => modules.add({ path, statements: readModule(root, source) }));
  }
  const budget = { forImport: total / 2, forNode: total / 8, total };
  const before = process.cpuUsage();
  const definitions = extractDefinitions(modules, parse, budget);
  const { user, system } = process.cpuUsage(before);
  return { ...definitions, cpuMs: (user + system) / 1000 };
}
