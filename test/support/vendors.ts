import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import type { RunningService, ServiceParts } from '../../src/service/serve.js';
import { createSmallestBody, formatStatusPath, startPaths, unwrapTask } from './generation.js';
import { startMagnific } from './magnific.js';
import { ask } from './service.js';
import { profileServiceForTest, writeProfile } from './vendor-service.js';
import { formatCreationsPath, smallestVideos, videoPaths } from './videos.js';
import { startVidu } from './vidu.js';

interface VendorOptions {
  /** Called once a task is made, before its start is answered. */
  // biome-ignore lint/suspicious/noExplicitAny: tasks differ
  readonly onMade?: (task: any) => void | Promise<void>;
  /** What a task is seen to be, look by look; the last stays. */
  readonly states?: readonly string[];
}

/** A stand-in, as far as all have the same. */
export interface StandIn {
  readonly url: string;
  readonly key: string;
  // biome-ignore lint/suspicious/noExplicitAny: tasks differ
  readonly tasks: Map<string, any>;
  /** Calls the callback of a task. */
  // biome-ignore lint/suspicious/noExplicitAny: tasks differ
  call(task: any, state: string): Promise<number>;
}

/** One task at a vendor that has a stand-in. */
export interface VendorCase {
  readonly profile: string;
  readonly kind: 'image' | 'video';
  readonly done: string;
  readonly failed: string;
  /** Whether it lists its tasks with a marker, so that a lost start is found again. */
  readonly findsLost: boolean;
  start(options?: VendorOptions): Promise<StandIn>;
}

const magnific = { kind: 'image', done: 'COMPLETED', failed: 'FAILED', findsLost: false } as const;

export const vendorCases: readonly VendorCase[] = [
  { ...magnific, profile: 'magnific', start: (options) => startMagnific(options) },
  {
    ...{ ...magnific, profile: 'freepik' },
    start: (options) => startMagnific({ ...options, header: 'x-freepik-api-key' }),
  },
  {
    ...{ profile: 'vidu', kind: 'video', done: 'success', failed: 'failed', findsLost: true },
    start: (options) => startVidu(options),
  },
];

export const vendorPrices = { image: { relight: 5 } };

/** A service whose images or videos are made by the stand-in of a vendor. */
export async function serviceOfVendorForTest(
  { profile, kind }: VendorCase,
  vendor: Pick<StandIn, 'url' | 'key'>,
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService> {
  const given = { prices: vendorPrices, ...input };
  // Tests ask more often than vendors allow.
  const patient = writeProfile({ extends: profile, limits: {} });
  return (await profileServiceForTest(kind, patient, vendor, given, parts)).service;
}

/** Starts a task. @param key repeated with the same one, it is the same task */
export async function startVendorCase(
  { kind }: VendorCase,
  { url, ownerToken: token }: RunningService,
  key?: string,
): Promise<string> {
  const isImage = kind === 'image';
  const { status, body } = await ask(
    url + (isImage ? startPaths['image.relight'] : videoPaths['video.text2video']),
    {
      ...{ method: 'POST', token, ...(key && { headers: { 'idempotency-key': key } }) },
      json: isImage ? createSmallestBody('image.relight') : smallestVideos['video.text2video'],
    },
  );
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return unwrapTask(body).task_id;
}

/** Reads the status of a task, and the URLs of its results. */
export async function readVendorCase(
  { kind }: VendorCase,
  { url, ownerToken: token }: RunningService,
  id: string,
): Promise<{ status: string; results: string[] }> {
  const path = kind === 'image' ? formatStatusPath('image.relight', id) : formatCreationsPath(id);
  const { body } = await ask(url + path, { token });
  if (kind === 'image') return { status: unwrapTask(body).status, results: unwrapTask(body).generated };
  return { status: body.state, results: body.creations.map((one: { url: string }) => one.url) };
}

/** What a task cost: `charge 5, refund 5`. */
export async function readCosts({ context }: RunningService, taskId: string): Promise<string> {
  const { database } = context;
  const rows = await database.selectFrom('credits').selectAll().where('task_id', '=', taskId).execute();
  return rows.map(({ kind, amount }) => `${kind} ${amount}`).join(', ');
}
