import { type CodeReport, codeReader } from '../../src/python/read-code.js';

/** Reads a pack that is given as texts, or bytes, by path. */
export async function codeOf(files: Readonly<Record<string, string | Buffer>>): Promise<CodeReport> {
  const reader = await codeReader();
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    if (reader.wanted(path, bytes.length)) await reader.read(path, bytes);
  }
  return reader.finish();
}

/** The nodes of a pack by name, with the fields parsed that are JSON text. */
export async function nodesOf(files: Readonly<Record<string, string>> | string) {
  const report = await codeOf(typeof files === 'string' ? { '__init__.py': files } : files);
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
