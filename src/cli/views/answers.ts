import { z } from 'zod';
import { HostNode } from '../../contract/host-nodes.js';
import { getOperation, getTaskFacts, listTaskOperations } from '../../contract/index.js';
import { NodeVersion } from '../../contract/node-version.js';
import type { Command } from '../command/command.js';

const Time = z.iso.datetime();
const Count = z.int().nonnegative();
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** An error of one of several items. */
const ItemError = z.object({
  code: z.string(),
  message: z.string(),
  status: z.int().optional(),
  request_id: z.string().optional(),
});

/** What every command prints on stderr if it fails with `--json`. */
export const ErrorAnswer = z.object({
  error: z.object({
    code: z.string().describe('Stable; see docs/errors.md'),
    message: z.string(),
    hint: z.string().optional(),
    status: z.int().optional().describe('HTTP status, if a service refused the request'),
    request_id: z.string().optional(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  }),
});

const File = z.object({ path: z.string(), size: Count });
const Row = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object(shape));
const Setting = z.object({ key: z.string(), value: z.string(), source: z.string() });

const LedgerEntry = z.object({
  id: z.string(),
  idempotency_key: z.string(),
  service: z.string(),
  operation: z.string(),
  request: z.record(z.string(), z.unknown()),
  name: z.string(),
  created_at: Time,
  task_id: z.string().optional(),
  state: z.string().optional(),
  outputs: z.array(z.string()).optional(),
  saved: z.array(z.string()).optional(),
  credits: z.number().optional(),
  seed: z.number().optional(),
  output: z.string().optional(),
  closed: z.literal(true).optional(),
  batch: z.literal(true).optional(),
});

/** One line of the output of a batch: the outcome of a job. */
const JobResult = z.object({
  line: Count,
  id: z.string(),
  status: z.enum(['done', 'failed', 'running', 'unsaved', 'unanswered', 'unsent']),
  task_id: z.string().nullable(),
  credits: z.number().nullable(),
  outputs: z.array(z.string()).optional().describe('URLs; saved has paths instead'),
  saved: z.array(z.string()).optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

export type JobResult = Readonly<z.infer<typeof JobResult>>;

/** One of several folders that were published. */
const PublishRow = z.object({
  dir: z.string(),
  node_id: z.string().nullable(),
  version: z.string().nullable(),
  node_version: NodeVersion.nullable().describe('As returned by the registry; null if it was not published'),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export type PublishRow = Readonly<z.infer<typeof PublishRow>>;

const FolderReport = z.object({
  data: z.string().optional(),
  backup: z.string().optional(),
  objects: Count,
  bytes: Count,
  problems: Row({ object: z.string(), message: z.string() }),
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
    z.union([
      z.array(File),
      z.object({ path: z.string(), files: Count, size: Count, sha256: Sha256, tree: z.string() }),
    ]),
  'version check': () =>
    z.object({
      files: z.array(File),
      definitions: z.array(HostNode),
      unknown: Row({
        host_node_name: z.string().optional(),
        file: z.string(),
        line: Count,
        what: z.string(),
      }),
      findings: Row({
        file: z.string(),
        line: Count,
        rule: z.string(),
        severity: z.enum(['high', 'low']),
        message: z.string(),
      }),
      verdict: z.enum(['NodeVersionStatusActive', 'NodeVersionStatusFlagged']),
    }),
  'version bump': () => z.object({ path: z.string(), from: z.string(), version: z.string() }),
  'version deprecate': () => z.array(NodeVersion),
  'publisher token check': () =>
    z.object({
      publisher: z.string(),
      source: z.string(),
      nodes: z.array(z.string()).optional(),
      expires_at: Time.optional(),
    }),
  'version diff': () =>
    Row({ host_node_name: z.string(), change: z.string(), detail: z.string(), breaks: z.boolean() }),
  'version download': () =>
    z.object({
      path: z.string(),
      node_id: z.string(),
      version: z.string().optional(),
      size: Count,
      sha256: Sha256,
    }),
  'node init': () =>
    z.object({
      path: z.string(),
      id: z.string(),
      name: z.string(),
      publisher: z.string(),
      version: z.string(),
      description: z.string().optional(),
      license: z.string().optional(),
      repository: z.string().optional(),
      dependencies: z.array(z.string()),
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
      id: z.string(),
      event: z.string(),
      task_id: z.string().optional(),
      state: z.string().optional(),
      caught_up: z.boolean(),
      body: z.record(z.string(), z.unknown()).nullable(),
    }),
  'webhook verify': () => z.object({ verified: z.literal(true), id: z.string(), sent_at: Time }),
  'auth status': () =>
    Me.partial().extend({
      service: z.string(),
      profile: z.string(),
      source: z.string(),
      issuer: z.string().optional(),
      renewed: z.boolean().optional(),
      publish_tokens: z.array(z.string()),
    }),
  'auth token': () => z.object({ token: z.string() }),
  'config get': () => Setting,
  'config list': () => z.array(Setting),
  'config path': () => z.object({ path: z.string() }),
  doctor: () =>
    Row({
      check: z.string(),
      status: z.enum(['ok', 'warn', 'fail']),
      detail: z.string(),
      advice: z.string().optional(),
      exit: z.int().optional(),
    }),
  'serve status': () =>
    z.object({
      url: z.string(),
      socket: z.string(),
      pid: z.int(),
      version: z.string(),
      instance: z.string(),
      data: z.string(),
      database: z.string().optional(),
      storage: z.string().optional(),
      previews: z.array(z.string()).optional(),
      database_bytes: z.int().optional(),
      archive_bytes: z.int().optional(),
      task_bytes: z.int().optional(),
      free_bytes: z.int(),
    }),
  'serve rotate-key': () => z.object({ kid: z.string() }),
  'serve backup': () => FolderReport,
  'serve restore': () => FolderReport,
  'serve check': () => FolderReport,
  'serve logs': () => z.array(z.record(z.string(), z.unknown())),
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
