import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startRegen } from '../support/cli.js';
import { exampleWorkflows } from '../support/comfyui-service.js';
import { listenOn } from '../support/listen.js';
import { filesForTest } from '../support/packs.js';
import { waitFor } from '../support/wait-for.js';

interface Setup {
  /** The configuration file. */
  readonly toml?: string;
  /** More files of its folder. */
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** What is read while it runs: paths, or `metrics` for the server of metrics. */
  readonly reads?: readonly string[];
}

const VENDOR = 'engine = "upstream"\nvendor = "magnific"\nkey = { env = "SECRET" }\n';

/** Each way to make the service load another part, or start another server. */
const listSetups = (bucket: string): Readonly<Record<string, Setup>> => ({
  'no settings': { reads: ['/', '/web/nodes/missing', '/web/style.css', '/openapi.json', '/mcp'] },
  'metrics.port': { toml: '[metrics]\nport = 0\n', reads: ['metrics'] },
  'metrics.token': { toml: '[metrics]\ntoken = { env = "SECRET" }\n', reads: ['/metrics'] },
  naming: { toml: 'naming = "comfy"\n', reads: ['/nodes/search'] },
  'the path of a naming': {
    toml: 'naming = "names.json"\n',
    files: { 'names.json': readFileSync('src/contract/naming/comfy.json', 'utf8') },
    reads: ['/nodes/search'],
  },
  's3.endpoint': {
    toml: `storage = "s3://objects"\n[s3]\nendpoint = "${bucket}"\naccessKeyId = "id"\nsecretAccessKey = { env = "SECRET" }\n`,
  },
  'a vendor': { toml: `[generation.image]\n${VENDOR}` },
  ComfyUI: {
    toml: `[generation.image]\nengine = "comfyui"\nbaseUrl = "http://127.0.0.1:9"\nworkflows = "${resolve(exampleWorkflows)}"\n`,
  },
  'generation.record': { toml: `[generation]\nrecord = "recordings"\n[generation.image]\n${VENDOR}` },
  '--scenario': {
    flags: ['--scenario', 'scenario.json'],
    files: { 'scenario.json': '{ "rules": [{ "operations": "image.relight", "refuse": "unavailable" }] }' },
  },
});

const SEARCH = {
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'node_search' } }),
};

/** Starts the built program with a setup, reads, and stops it. */
async function runSetup({ toml = '', files = {}, flags = [], reads = ['/nodes'] }: Setup) {
  const cwd = filesForTest({ ...files, 'regen.toml': toml });
  const argv = ['serve', '--port', '0', '--data', 'data', '--config', 'regen.toml', ...flags];
  const env = { SECRET: 'secret', NODE_OPTIONS: `--require ${resolve('test/support/report-loaded.cjs')}` };
  const serving = startRegen(argv, { cwd, env });
  onTestFinished(() => void serving.child.kill('SIGKILL'));
  const url = await findAddress(serving, /--base-url (\S+)/);
  const answers: string[] = [];
  for (const path of url ? reads : []) {
    const address = path === 'metrics' ? await findAddress(serving, /Metrics are at (\S+)\.\n/) : url + path;
    const token =
      path === '/metrics' ? env.SECRET : readFileSync(join(cwd, 'data/owner.token'), 'utf8').trim();
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'text/html',
      'content-type': 'application/json',
    };
    const { status } = await fetch(address, { ...(path === '/mcp' && SEARCH), headers });
    answers.push(`${path} ${status}`);
  }
  serving.child.kill('SIGTERM');
  const { exit, stderr } = await serving.ended;
  const [said, report = '{ "files": [] }'] = stderr.split('\nloaded ');
  const { files: loaded } = JSON.parse(report) as { readonly files: readonly string[] };
  return { exit, said, answers, loaded: loaded.map((path) => relative('.', path)) };
}

/** Waits for a line of stderr. @returns the address in it; '' if the program has ended */
async function findAddress({ child, said }: ReturnType<typeof startRegen>, line: RegExp): Promise<string> {
  const found = await waitFor(() => {
    const match = line.exec(said());
    expect(match ?? child.exitCode).not.toBeNull();
    return match;
  });
  return found?.[1] ?? '';
}

/** The files of dist that the service may load, apart from its HTTP client, which is that of commands. */
function listParts(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path) || path === 'dist/http.cjs') return seen;
  seen.add(path);
  for (const [, file] of readFileSync(path, 'utf8').matchAll(/\brequire\(["'`](\.[^"'`]+)["'`]\)/g))
    listParts(join(dirname(path), file as string), seen);
  return seen;
}

test('the built program names each wrong setting, its choices and its line', async () => {
  const lines = [
    'logLevel = "debug"',
    'prot = 1',
    'registry.read = "authenticate"',
    'publish.bearer = "maybe"',
  ];
  const cwd = filesForTest({ 'regen.toml': `${lines.join('\n')}\n` });
  for (const flags of [['--check'], []]) {
    const argv = ['serve', '--config', 'regen.toml', ...flags];
    const { exit, stderr } = await startRegen(argv, { cwd }).ended;
    expect(exit, stderr).toBe(2);
    for (const [at, words] of ['logLevel', 'did you mean port', 'authenticated', 'required'].entries())
      expect(stderr).toMatch(new RegExp(`${words}.*\\(regen\\.toml, line ${at + 1}\\)`));
  }
  const { stdout, stderr } = await startRegen(['serve', '--check', '--config', 'regen.toml', '--json'], {
    cwd,
  }).ended;
  expect(JSON.parse(stderr || stdout)).toMatchObject({
    error: { details: expect.arrayContaining([expect.objectContaining({ path: 'prot' })]) },
  });
});

test('the built service starts, answers and stops with each setting that loads another part of it', async () => {
  const bucket = await listenOn((_, response) => void response.end('<ListBucketResult/>'));
  onTestFinished(bucket.close);
  const left = new Set(listParts('dist/service-start.cjs'));
  const broken: Record<string, object> = {};
  const setups = Object.entries(listSetups(bucket.url));
  const takeTurns = async () => {
    for (let next = setups.pop(); next; next = setups.pop()) {
      const [name, setup] = next;
      const { loaded, ...ended } = await runSetup(setup);
      const isAnswered =
        ended.answers.length > 0 && ended.answers.every((one) => /( 200|missing 404)$/.test(one));
      if (ended.exit !== 0 || !isAnswered || ended.said?.includes('left-out')) broken[name] = ended;
      for (const path of loaded) left.delete(path);
    }
  };
  await Promise.all([takeTurns(), takeTurns(), takeTurns()]);
  expect(broken).toEqual({});
  // A new part needs a setup that loads it.
  expect([...left]).toEqual([]);
});
