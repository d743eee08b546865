import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { getOperation } from '../../contract/index.js';
import { type PrintedRequest, printRequest, requestOf } from '../command/dry-run.js';
import type { Invocation, Service } from '../command/invocation.js';
import { checkCode } from '../publish/findings.js';
import { publishMany } from '../publish/many.js';
import { type Pack, readPack } from '../publish/pack.js';
import { publishPack } from '../publish/publish-pack.js';
import { publishToken } from '../publish/token.js';
import { publishBody } from '../publish/upload.js';
import { durationMs } from '../terminal/duration.js';
import { usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { readAll } from '../terminal/stdin.js';

/** Publishes a folder; of several, all that can be. */
export async function run(invocation: Invocation): Promise<number | undefined> {
  const { flags } = invocation;
  const dirs = [...new Set(invocation.args.dir as readonly string[] | undefined)];
  if (dirs.length < 2 && flags.concurrency !== undefined)
    throw usage('--concurrency is for several folders.');
  const timeoutMs = durationMs(invocation.text('timeout') ?? '30m', '--timeout');
  const changelog = await changelogOf(invocation);
  if (dirs.length > 1) {
    const preview = (pack: Pack) => requestFor(pack, changelog);
    return publishMany(invocation, dirs, { changelog, timeoutMs, ...(flags['dry-run'] && { preview }) });
  }
  const pack = await readPack(invocation, dirs[0]);
  if (flags['dry-run']) await printRequest(invocation, requestFor(pack, changelog));
  else await publishOne(invocation, pack, changelog, timeoutMs);
  return undefined;
}

async function publishOne(
  invocation: Invocation,
  pack: Pack,
  changelog: string | undefined,
  timeoutMs: number,
): Promise<void> {
  const { output } = invocation;
  const progress = new Progress(output);
  await checkCode(invocation, pack, progress);
  invocation.resumeHint = 'Run the same command again to go on; the version number is not used up.';
  const tokenOf = (service: Service, publisherId: string) => publishToken(invocation, service, publisherId);
  try {
    const version = await publishPack(invocation, pack, { changelog, timeoutMs, progress, tokenOf });
    progress.end();
    await output.answer(version);
    await invocation.sayWhere();
  } finally {
    progress.end();
  }
}

async function changelogOf(invocation: Invocation): Promise<string | undefined> {
  const text = invocation.text('changelog');
  const file = invocation.text('changelog-file');
  if (text !== undefined && file !== undefined)
    throw usage('--changelog and --changelog-file exclude each other.');
  if (file === undefined) return text;
  const { stdin, cwd } = invocation.system;
  return (file === '-' ? await readAll(stdin) : readFileSync(resolve(cwd, file), 'utf8')).trim();
}

function requestFor({ manifest }: Pack, changelog: string | undefined): PrintedRequest {
  const params = { publisherId: manifest.publisher, nodeId: manifest.node.id };
  const body = publishBody({ manifest, changelog }, 'masked');
  return requestOf(getOperation('version.publish'), { params, query: {}, body });
}
