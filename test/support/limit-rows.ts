import { expect, it } from 'vitest';
import type { ask } from './service.js';

/** The values that a field accepts at its limits, and those that it refuses. */
export interface Row {
  readonly field: string;
  readonly takes: readonly unknown[];
  readonly refuses: readonly unknown[];
  /** The path of its problems, if it is not the field itself. */
  readonly named?: string;
}

export const limitToFlag = (field: string): Row => ({ field, takes: [true, false], refuses: ['true', 1] });

export const limitToChoice = (field: string, values: string): Row => ({
  field,
  takes: values.split(' '),
  refuses: ['', 'other', values.split(' ')[0]?.toUpperCase(), 1],
});

/** Tests every row of each operation's table over HTTP. */
export function testRows<Operation extends string>(
  table: Readonly<Record<Operation, readonly Row[]>>,
  start: (operation: Operation, fields: object) => ReturnType<typeof ask>,
): void {
  const rows = Object.entries<readonly Row[]>(table).flatMap(([operation, ofOne]) =>
    ofOne.map((row) => ({ operation: operation as Operation, ...row })),
  );

  it.each(rows)('$operation $field is taken at its limits', async ({ operation, field, takes }) => {
    for (const value of takes) {
      const { status, body } = await start(operation, nestField(field, value));
      expect([status, body.message], JSON.stringify(value)?.slice(0, 200)).toEqual([200, undefined]);
    }
  });

  it.each(rows)(
    '$operation $field is refused beyond them, by its name',
    async ({ operation, field, refuses, named = field }) => {
      for (const value of refuses) {
        const { status, body } = await start(operation, nestField(field, value));
        const received = JSON.stringify(value)?.slice(0, 200);
        expect([status, body.error], received).toEqual([400, 'invalid_request']);
        expect(
          body.details.map(({ path }: { path: string }) => path),
          received,
        ).toEqual([named]);
      }
    },
  );
}

/** `{ a: { b: value } }` of `a.b`. */
function nestField(field: string, value: unknown): object {
  const [first, ...rest] = field.split('.') as [string, ...string[]];
  return { [first]: rest.length > 0 ? nestField(rest.join('.'), value) : value };
}
