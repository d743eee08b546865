import { contract } from '../src/contract/index.js';
import { listOperations, type Operation } from '../src/contract/operation.js';
import { createOutline } from '../src/contract/schema/create-outline.js';
import type { Outline } from '../src/contract/schema/outline.js';
import { MANIFEST_SCHEMAS } from '../src/pack/manifest-schemas.js';
import { writeIfChanged } from './write-if-changed.js';

const PATH = 'src/client/operations.generated.json';

/** Writes what the client needs to know about each operation, so that it starts without the contract's schemas. */
export function writeOperations(): void {
  const operations = [...listOperations(contract)].map(
    ([name, operation]) => [name, outlineOperation(operation)] as const,
  );
  writeIfChanged(PATH, shareOutlines(Object.fromEntries(operations)));
}

/** Writes the outlines of a manifest, so that a pack is read without the contract's schemas. */
export function writeManifestOutlines(): void {
  const outlines = Object.entries(MANIFEST_SCHEMAS).map(([name, schema]) => [
    name,
    createOutline(schema, 'input'),
  ]);
  writeIfChanged('src/pack/manifest.generated.json', Object.fromEntries(outlines));
}

function outlineOperation({ method, path, safe, secret, query, body, response }: Operation) {
  return {
    ...{ method, path, safe, secret },
    ...(query && { query: createOutline(query, 'input') }),
    ...(body && { body: createOutline(body, 'input') }),
    ...(response && { response: createOutline(response, 'output') }),
  };
}

/** Shorter outlines are not worth a reference. */
const MIN_SHARED_CHARACTERS = 60;

/** Writes outlines that occur more than once only once. */
function shareOutlines(operations: unknown): { shared: Outline[]; operations: unknown } {
  const counts = new Map<string, number>();
  const countAll = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    const text = JSON.stringify(value);
    if ('type' in value && text.length >= MIN_SHARED_CHARACTERS) {
      counts.set(text, (counts.get(text) ?? 0) + 1);
      if ((counts.get(text) as number) > 1) return;
    }
    Object.values(value).forEach(countAll);
  };
  countAll(operations);
  const shared: Outline[] = [];
  const known = new Map<string, Outline>();
  const replaceAll = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    const before = known.get(text);
    if (before) return before;
    const replaced = Array.isArray(value)
      ? value.map(replaceAll)
      : Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaceAll(inner)]));
    if (!('type' in value) || (counts.get(text) ?? 0) < 2) return replaced;
    const reference: Outline = { type: 'shared', index: shared.push(replaced as Outline) - 1 };
    known.set(text, reference);
    return reference;
  };
  return { operations: replaceAll(operations), shared };
}
