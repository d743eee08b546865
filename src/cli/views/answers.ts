import { z } from 'zod';
import { getOperation, getTaskFacts, listTaskOperations } from '../../contract/index.js';
import { NodeVersion } from '../../contract/node-version.js';

export const Text = z.string();
export const Texts = z.array(Text);
export const Time = z.iso.datetime();
export const Count = z.int().nonnegative();
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const ItemError = z.object({
  code: Text,
  message: Text,
  status: z.int().optional(),
  request_id: Text.optional(),
});

/** What every command prints on stderr if it fails with `--json`. */
export const ErrorAnswer = z.object({
  error: z.object({
    code: Text.describe('Stable; see docs/errors.md'),
    message: Text,
    hint: Text.optional(),
    status: z.int().optional().describe('HTTP status, if a service refused the request'),
    request_id: Text.optional(),
    details: z.array(z.object({ path: Text, message: Text })).optional(),
  }),
});

export const File = z.object({ path: Text, size: Count });
export const Row = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object(shape));

export const LedgerEntry = z.object({
  id: Text,
  idempotency_key: Text,
  service: Text,
  operation: Text,
  request: z.record(Text, z.unknown()),
  name: Text,
  created_at: Time,
  task_id: Text.optional(),
  state: Text.optional(),
  outputs: Texts.optional(),
  saved: Texts.optional(),
  credits: z.number().optional(),
  seed: z.number().optional(),
  err_code: Text.optional(),
  reason: Text.optional(),
  output: Text.optional(),
  closed: z.literal(true).optional(),
  batch: z.literal(true).optional(),
});

/** One line of the output of a batch: the outcome of a job. */
export const JobResult = z.object({
  line: Count,
  id: Text,
  status: z.enum(['done', 'failed', 'running', 'unsaved', 'unanswered', 'unsent']),
  task_id: Text.nullable(),
  credits: z.number().nullable(),
  outputs: Texts.optional().describe('URLs; saved has paths instead'),
  saved: Texts.optional(),
  error: z.object({ code: Text, message: Text }).optional(),
});

export type JobResult = Readonly<z.infer<typeof JobResult>>;

/** One of several folders that were published. */
export const PublishRow = z.object({
  dir: Text,
  node_id: Text.nullable(),
  version: Text.nullable(),
  node_version: NodeVersion.nullable().describe('As returned by the registry; null if it was not published'),
  skipped: z.boolean().describe('Whether the same files had been published before (--skip-existing)'),
  error: z.object({ code: Text, message: Text }).nullable(),
});

export type PublishRow = Readonly<z.infer<typeof PublishRow>>;

/** The answers of operations, one for one task and a list for several. */
export function describeTasks(operations: readonly string[]): z.ZodType {
  const answers = operations.map((name) => getOperation(name).response as z.ZodType);
  const [first, ...others] = [...new Set(answers)];
  const one = z.union([first as z.ZodType, ...others]);
  return z.union([one, z.array(z.union([one, z.object({ error: ItemError })]))]);
}

export const describeAnyTask = () =>
  describeTasks(listTaskOperations().flatMap((name) => [name, getTaskFacts(name).read]));
