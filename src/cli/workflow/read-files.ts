import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import ignore from 'ignore';
import { NetworkError } from '../../client/errors.js';
import { parseJson } from '../../contract/json.js';
import { isShellPipe, readFolderFile, readGivenFile } from '../../disk/folder-file.js';
import { type HostDefinition, parseObjectInfo } from '../../flows/workflow/host-definitions.js';
import {
  MAX_WORKFLOW_BYTES,
  NotAWorkflow,
  parseWorkflow,
  type Workflow,
} from '../../flows/workflow/parse-workflow.js';
import { walkFiles } from '../../pack/walk.js';
import { readBody } from '../../wire/read-body.js';
import { toInvalidFailure } from '../command/request.js';
import type { Needs } from '../connect/context.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { readBytes } from '../terminal/stdin.js';

/**
 * Reads workflows; all that are wrong are reported together.
 * @param given paths, patterns such as `flows/*.json`, or `-` for standard input
 */
export async function readWorkflows(
  { system }: Needs<'system'>,
  given: readonly string[],
): Promise<readonly Workflow[]> {
  const paths = [...new Set((await Promise.all(given.map((one) => expandPattern(system.cwd, one)))).flat())];
  const workflows: Workflow[] = [];
  const problems: { path: string; message: string }[] = [];
  for (const path of paths) {
    try {
      const content =
        path === '-' ? await readBytes(system.stdin) : await readWorkflowFile(resolve(system.cwd, path));
      workflows.push(parseWorkflow(path, content));
    } catch (error) {
      if (!(error instanceof NotAWorkflow)) throw error;
      problems.push({ path, message: error.message });
    }
  }
  if (problems.length > 0) throw toInvalidFailure(problems);
  return workflows;
}

async function readWorkflowFile(path: string): Promise<Buffer> {
  return existsSync(path) && isShellPipe(path)
    ? readGivenFile(path)
    : readFolderFile(path, MAX_WORKFLOW_BYTES);
}

/** Shells that do not expand patterns hand them on. */
async function expandPattern(cwd: string, given: string): Promise<readonly string[]> {
  if (!/[*?[]/.test(given) || existsSync(resolve(cwd, given))) return [given];
  const pattern = given.replaceAll('\\', '/').replace(/^\.\//, '');
  const fixed = pattern.slice(0, pattern.slice(0, pattern.search(/[*?[]/)).lastIndexOf('/') + 1);
  const matching = ignore({ ignorecase: false }).add(`/${pattern.slice(fixed.length)}`);
  const root = resolve(cwd, fixed);
  const files = existsSync(root) ? await walkFiles(root, { everything: true }) : [];
  const found = files.filter((path) => matching.ignores(path)).sort();
  if (found.length === 0) throw usage(`No file matches ${given}.`);
  return found.map((path) => fixed + path);
}

/** What hosts answer; one with hundreds of packs has a tenth. */
const MAX_OBJECT_INFO_BYTES = 128 * 1024 ** 2;

/**
 * Reads what a host answers to /object_info, from a file or from the host itself.
 * @throws Failure if it is something else
 */
export async function readObjectInfo(
  context: Needs<'system' | 'connect' | 'signal'>,
  given: string,
): Promise<readonly HostDefinition[]> {
  const isUrl = /^https?:\/\//i.test(given);
  const content = isUrl
    ? await fetchObjectInfo(context, given)
    : readFolderFile(resolve(context.system.cwd, given), MAX_OBJECT_INFO_BYTES);
  const definitions = parseObjectInfo(parseJson(content.toString('utf8')));
  if (definitions) return definitions;
  const place = isUrl ? new URL(given).origin : given;
  throw usage(`${place} has no node definitions of a host.`, PASS_COMFYUI);
}

const PASS_COMFYUI = 'Pass the address of a running ComfyUI, or a file with its response to /object_info.';

async function fetchObjectInfo(
  { connect, signal }: Needs<'connect' | 'signal'>,
  given: string,
): Promise<Buffer> {
  const { origin, pathname } = new URL(given);
  const base = pathname.replace(/\/(?:api\/)?(?:object_info\/?)?$/, '');
  const client = await connect(`${origin}${base}`);
  const { status, body } = await client.raw({ path: '/object_info', signal }).catch((error) => {
    if (!(error instanceof NetworkError)) throw error;
    const nothing = `Nothing is listening at ${origin}. Is ComfyUI running, and is the address right?`;
    const message = error.code === 'refused' ? nothing : error.message;
    throw new Failure(message, { code: error.code, exit: exitCodes.unreachable });
  });
  const content = await readBody(body, MAX_OBJECT_INFO_BYTES);
  if (status === 200) return content;
  throw new Failure(`${origin} answered with status ${status} instead of its node definitions.`, {
    ...{ code: `http_${status}`, exit: exitCodes.usage, hint: PASS_COMFYUI },
  });
}
