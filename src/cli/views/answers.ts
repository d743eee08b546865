import { z } from 'zod';
import { HostNode } from '../../contract/host-nodes.js';
import { getOperation, getTaskFacts, listTaskOperations } from '../../contract/index.js';
import { NodeVersion } from '../../contract/node-version.js';
import type { Command } from '../command/command.js';

const Text = z.string();
const Texts = z.array(Text);
const Time = z.iso.datetime();
const Count = z.int().nonnegative();
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

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

const File = z.object({ path: Text, size: Count });
const Row = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object(shape));
const Setting = z.object({ key: Text, value: Text, source: Text });

const LedgerEntry = z.object({
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
  output: Text.optional(),
  closed: z.literal(true).optional(),
  batch: z.literal(true).optional(),
});

/** One line of the output of a batch: the outcome of a job. */
const JobResult = z.object({
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
const PublishRow = z.object({
  dir: Text,
  node_id: Text.nullable(),
  version: Text.nullable(),
  node_version: NodeVersion.nullable().describe('As returned by the registry; null if it was not published'),
  error: z.object({ code: Text, message: Text }).nullable(),
});

export type PublishRow = Readonly<z.infer<typeof PublishRow>>;

const FolderReport = z.object({
  data: Text.optional(),
  backup: Text.optional(),
  objects: Count,
  bytes: Count,
  problems: Row({ object: Text, message: Text }),
});

const Me = getOperation('user.me').response as z.ZodObject;

/** The answers of operations, one for one task and a list for several. */
function describeTasks(operations: readonly string[]): z.ZodType {
  const answers = operations.map((name) => getOperation(name).response as z.ZodType);
  const [first, ...others] = [...new Set(answers)];
  const one = z.union([first as z.ZodType, ...others]);
  return z.union([one, z.array(z.union([one, z.object({ error: ItemError })]))]);
}

const describeAnyTask = () =>
  describeTasks(listTaskOperations().flatMap((name) => [name, getTaskFacts(name).read]));

/** The answers that are composed on this machine; those of all other commands are the responses of operations. */
const COMPOSED: Readonly<Record<string, () => z.ZodType>> = {
  'version publish': () => z.union([NodeVersion, z.array(PublishRow)]),
  'version pack': () =>
    z.union([z.array(File), z.object({ path: Text, files: Count, size: Count, sha256: Sha256, tree: Text })]),
  'version check': () =>
    z.object({
      files: z.array(File),
      definitions: z.array(HostNode),
      unknown: Row({
        host_node_name: Text.optional(),
        file: Text,
        line: Count,
        what: Text,
      }),
      findings: Row({
        file: Text,
        line: Count,
        rule: Text,
        severity: z.enum(['high', 'low']),
        message: Text,
      }),
      verdict: z.enum(['NodeVersionStatusActive', 'NodeVersionStatusFlagged']),
    }),
  'version bump': () => z.object({ path: Text, from: Text, version: Text }),
  'version deprecate': () => z.array(NodeVersion),
  'publisher token check': () =>
    z.object({
      publisher: Text,
      source: Text,
      nodes: Texts.optional(),
      expires_at: Time.optional(),
    }),
  'version diff': () => Row({ host_node_name: Text, change: Text, detail: Text, breaks: z.boolean() }),
  'version download': () =>
    z.object({
      path: Text,
      node_id: Text,
      version: Text.optional(),
      size: Count,
      sha256: Sha256,
    }),
  'node init': () =>
    z.object({
      path: Text,
      id: Text,
      name: Text,
      publisher: Text,
      version: Text,
      description: Text.optional(),
      license: Text.optional(),
      repository: Text.optional(),
      dependencies: Texts,
    }),
  'task list': () => z.array(LedgerEntry),
  'task show': () => LedgerEntry,
  'task cancel': () => z.array(getOperation('task.cancel').response as z.ZodType),
  'task wait': describeAnyTask,
  'task download': describeAnyTask,
  'task rerun': describeAnyTask,
  batch: () => z.array(JobResult),
  'webhook listen': () =>
    z.object({
      id: Text,
      event: Text,
      task_id: Text.optional(),
      state: Text.optional(),
      caught_up: z.boolean(),
      body: z.record(Text, z.unknown()).nullable(),
    }),
  'webhook verify': () => z.object({ verified: z.literal(true), id: Text, sent_at: Time }),
  'auth status': () =>
    Me.partial().extend({
      service: Text,
      profile: Text,
      source: Text,
      issuer: Text.optional(),
      renewed: z.boolean().optional(),
      publish_tokens: Texts,
    }),
  'auth token': () => z.object({ token: Text }),
  'config get': () => Setting,
  'config list': () => z.array(Setting),
  'config path': () => z.object({ path: Text }),
  doctor: () =>
    Row({
      check: Text,
      status: z.enum(['ok', 'warn', 'fail']),
      detail: Text,
      advice: Text.optional(),
      exit: z.int().optional(),
    }),
  'serve status': () =>
    z.object({
      url: Text,
      socket: Text,
      pid: z.int(),
      version: Text,
      instance: Text,
      data: Text,
      database: Text.optional(),
      storage: Text.optional(),
      previews: Texts.optional(),
      database_bytes: z.int().optional(),
      archive_bytes: z.int().optional(),
      task_bytes: z.int().optional(),
      free_bytes: z.int(),
    }),
  'serve rotate-key': () => z.object({ kid: Text }),
  'serve backup': () => FolderReport,
  'serve restore': () => FolderReport,
  'serve check': () => FolderReport,
  'serve logs': () => z.array(z.record(Text, z.unknown())),
};

/**
 * The schema of what a command prints with `--json`.
 * @returns undefined for a command that prints no JSON
 */
export function findAnswerSchema({ words, operation, module }: Command): z.ZodType | undefined {
  const composed = COMPOSED[words.join(' ')];
  if (composed) return composed();
  if (operation === undefined) return undefined;
  const { response, task } = getOperation(operation);
  if (module === 'generate' && task) return describeTasks([operation, task.read]);
  return response ?? z.object({});
}
