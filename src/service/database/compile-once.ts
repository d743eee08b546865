import type { Compilable, CompiledQuery } from 'kysely';
import type { Database } from './database.js';

/**
 * Makes a query that is compiled once for each kind of database, because compiling a join takes longer than running it.
 * @param build builds the query; it gets the values of its parameters, and must only pass them on
 * @returns runs the query with these values
 */
export function compileOnce<Values extends readonly (string | number | null)[], Row>(
  build: (database: Database, ...values: Values) => Compilable<Row>,
): (database: Database, ...values: Values) => Promise<Row[]> {
  const compiled = new WeakMap<object, (values: Values) => CompiledQuery<Row>>();
  return async (database, ...values) => {
    const { adapter } = database.getExecutor();
    let fill = compiled.get(adapter);
    if (!fill) {
      const marks: unknown[] = values.map((_, index) => Object.freeze({ index }));
      const query = build(database, ...(marks as unknown as Values)).compile();
      const places = query.parameters.map((parameter) => marks.indexOf(parameter));
      fill = (given) => ({
        ...query,
        parameters: query.parameters.map((parameter, at) =>
          places[at] === -1 ? parameter : given[places[at] as number],
        ),
      });
      compiled.set(adapter, fill);
    }
    return (await database.executeQuery(fill(values))).rows;
  };
}
