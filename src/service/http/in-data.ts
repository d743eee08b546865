import type { Prepared } from './handler.js';

// service.md answers most tasks as { data: task }, and those of style transfer as they are.

/** The same, with each answer as `{ data }`. */
export function preparedInData<Called, Answer>(
  prepare: (call: Called) => Promise<Prepared<Answer>>,
): (call: Called) => Promise<Prepared<{ data: Answer }>> {
  return async (call) => {
    const { write, end } = await prepare(call);
    return { write: async (tx) => ({ data: await write(tx) }), end };
  };
}

/** The same, with each answer as `{ data }`. */
export function readInData<Asked extends unknown[], Answer>(
  read: (...asked: Asked) => Promise<Answer>,
): (...asked: Asked) => Promise<{ data: Answer }> {
  return async (...asked) => ({ data: await read(...asked) });
}
