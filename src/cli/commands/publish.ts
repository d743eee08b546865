import { resolve } from 'node:path';
import { z } from 'zod';
import { getOutline } from '../../client/outlines.js';
import { NodeVersion } from '../../contract/node-version.js';
import { regen, say } from '../../contract/schema/message.js';
import { checkCode, type Pack } from '../../flows/publish/pack.js';
import { buildPublishBody } from '../../flows/publish/upload.js';
import { readInput } from '../command/build-request.js';
import { readText } from '../command/command.js';
import { type PrintedRequest, printRequest, toPrintedRequest } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { identityFlags } from '../publish/job-identity.js';
import { publishFolder, readAllowances, readFolder, tryFolder } from '../publish/publish-folder.js';
import { durationMs } from '../terminal/duration.js';
import { usage } from '../terminal/failure.js';
import { Progress } from '../terminal/progress.js';
import { PublishRow } from '../views/answers.js';
import { allowBreakingFlag, allowEmptyFlag, allowSecretsFlag, publisherFlag } from '../views/flags.js';
import type { View } from '../views/view.js';

type Context = Needs<
  'args' | 'flags' | 'system' | 'output' | 'interruption' | 'signal' | 'connect' | 'services' | 'mayAsk'
>;

export const view = (): View => ({
  usage: 'version publish [dir...]',
  summary: "Publish a node pack as a new version, and wait for the registry's verdict",
  explain: {
    dir: 'Folder with the pyproject.toml (default: the current folder). With several folders, a failed one does not stop the others',
  },
  changes: true,
  tool: { flags: ['publisher', 'changelog', 'stage', 'skip-existing'], asked: true },
  flags: {
    ...publisherFlag,
    '--changelog <text>': 'Summary of the changes in this version',
    '--changelog-file <path>': 'File with the changelog, or - for standard input',
    ...allowSecretsFlag,
    '--allow-findings':
      'Publish even if a finding would flag the version, or ComfyUI cannot import its Python',
    ...allowEmptyFlag,
    ...allowBreakingFlag,
    '--stage': 'Have an owner approve the version before others can use it',
    ...identityFlags,
    '--skip-existing': 'Succeed if this exact version is already published',
    '--no-wait': 'Exit once the archive is uploaded',
    '--wait': { description: 'Wait for the verdict (the default)', hidden: true },
    '--concurrency <number>': 'Folders to publish in parallel (1 to 16; default 3)',
    '--timeout <duration>':
      "Maximum time to wait for the registry's verdict, such as 90s or 30m (default 30m)",
  },
  examples: [
    'regen version publish',
    'regen version publish packs/light --changelog-file CHANGES.md --skip-existing',
    'regen version publish packs/* --concurrency 4 --skip-existing',
  ],
  answer: z.union([NodeVersion, z.array(PublishRow)]),
});

export async function run(context: Context): Promise<number | undefined> {
  const { flags } = context;
  const given = (context.args.dir ?? []) as readonly string[];
  const paths = given.map((dir) => resolve(context.system.cwd, dir));
  const dirs = given.filter((_, at) => paths.indexOf(paths[at] as string) === at);
  if (dirs.length < 2 && flags.concurrency !== undefined)
    throw usage('--concurrency requires several folders.');
  const timeoutMs = durationMs(readText(context.flags, 'timeout') ?? '30m', '--timeout');
  const changelog = await readChangelog(context);
  if (dirs.length > 1) {
    const { publishMany } = await import('../publish/many.js');
    const preview = flags['dry-run'] ? createPreview(changelog, flags) : undefined;
    return publishMany(context, dirs, { changelog, timeoutMs, ...(preview && { preview }) });
  }
  await publishOne(context, await readFolder(context, dirs[0]), changelog, timeoutMs);
  return undefined;
}

async function publishOne(
  context: Context,
  pack: Pack,
  changelog: string | undefined,
  timeoutMs: number,
): Promise<void> {
  const { output, flags } = context;
  using progress = new Progress(output);
  const code = await checkCode(pack, output, progress, readAllowances(flags));
  if (flags['dry-run']) {
    await tryFolder(context, pack, code);
    return printRequest(context, createPreview(changelog, flags)(pack));
  }
  context.interruption.hint = 'Run the same command again to continue; the version number is not used up.';
  const version = await publishFolder(context, pack, { changelog, timeoutMs, progress, code });
  progress.end();
  const format = await context.services.findFormat();
  await output.answer(format.writeAnswer(getOutline('version.get'), version));
  if (context.system.stdout.isTTY && version.status === 'NodeVersionStatusActive')
    await output.note(say`See its page with: ${regen('open', pack.manifest.node.id)}`);
  await context.services.announce();
}

async function readChangelog(context: Needs<'flags' | 'system'>): Promise<string | undefined> {
  const text = readText(context.flags, 'changelog');
  const file = readText(context.flags, 'changelog-file');
  if (text !== undefined && file !== undefined)
    throw usage('--changelog and --changelog-file cannot be used together.');
  if (file === undefined) return text;
  return (await readInput(context.system, file)).trim();
}

function createPreview(
  changelog: string | undefined,
  { stage }: Context['flags'],
): (pack: Pack) => PrintedRequest {
  return ({ manifest }) => {
    const params = { publisherId: manifest.publisher, nodeId: manifest.node.id };
    const body = buildPublishBody({ manifest, changelog, stage: stage === true }, 'masked');
    return toPrintedRequest(getOutline('version.publish'), { params, body });
  };
}
