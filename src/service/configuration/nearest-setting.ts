import { listTaskOperations } from '../../contract/index.js';
import { UNKNOWN_FIELD } from '../../contract/schema/check.js';
import type { FieldDescription } from '../../contract/schema/fields.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { findNearest } from '../../wire/nearest.js';
import { formatPath } from './start-errors.js';

type Fields = Readonly<Record<string, FieldDescription>>;

/**
 * Adds the setting that an unknown one probably means: one with a similar name, or with the same name in another table.
 * @param all the settings there are
 */
export function nameNearest(problem: Problem, all: Fields): Problem {
  if (problem.message !== UNKNOWN_FIELD) return problem;
  const path = problem.path.map(String);
  const name = path.at(-1) as string;
  const table = path.slice(0, -1);
  const fields = findFields(all, table);
  if (name in fields) return { path, message: 'is not a setting of this engine' };
  const names = formatPath(table) === 'generation.operation' ? listTaskOperations() : Object.keys(fields);
  const near = findNearest(name.slice(0, 100), names);
  const others = near === undefined ? listPaths(all).filter((one) => one.at(-1) === name) : [];
  // What follows a table in a TOML file belongs to it.
  const isOfTop = table.length > 0 && others.some((one) => one.length === 1);
  const meant = isOfTop
    ? `${name}, above the first [table]`
    : others.slice(0, 2).map(formatPath).join(' or ');
  const hint = near ?? meant;
  return { path, message: `is not a setting${hint && ` (did you mean ${hint}?)`}` };
}

function findFields(all: Fields, table: readonly string[]): Fields {
  let fields = all;
  for (const name of table) {
    const { fields: own, items } = fields[name] ?? {};
    // An index leads to the same fields as its list.
    if (!/^\d+$/.test(name)) fields = own ?? items?.fields ?? {};
  }
  return fields;
}

function listPaths(fields: Fields): string[][] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.fields ? listPaths(field.fields).map((path) => [name, ...path]) : [[name]],
  );
}
