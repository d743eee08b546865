import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.js';
import { shortenStatus } from '../../src/contract/status-names.js';
import { homeForTest, regen, type Surroundings } from '../support/cli.js';
import { comfyRegistryForTest } from '../support/comfy-registry.js';
import { png } from '../support/generation-double.js';
import { packForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';

/** A registry of the other service, and a HOME whose profile `comfy` names it. */
async function createDesk() {
  const registry = await comfyRegistryForTest();
  const home = homeForTest();
  const cwd = folderForTest();
  writeFileSync(join(cwd, 'a.png'), png);
  const env = { REGEN_PROFILE: 'comfy', REGEN_TOKEN: 'me', REGEN_PUBLISH_TOKEN: registry.pat };
  const run = (line: string | readonly string[], more: Surroundings = {}) =>
    regen(typeof line === 'string' ? line.split(' ') : line, { home, cwd, env, ...more });
  const done = async (line: string | readonly string[], more: Surroundings = {}) => {
    const ran = await run(line, more);
    expect(ran.exit, `${line}\n${ran.stderr}`).toBe(0);
    return ran;
  };
  await done(`config set profiles.comfy.base_url ${registry.url}`);
  await done('config set profiles.comfy.naming comfy');
  const last = () => registry.asked.at(-1);
  return { registry, home, cwd, run, done, last };
}

describe('the registry of a profile with the naming comfy', () => {
  test('takes publishers, tokens and nodes, and --json is the body that it sent', async () => {
    const { done, last } = await createDesk();
    await done('publisher create --id acme --name Acme');
    expect((await done('publisher list')).stdout).toContain('acme');
    expect((await done('publisher token create acme --name ci --json')).stdout).toContain('"createdAt"');
    expect((await done('publisher token list acme')).stdout).toContain('ci');
    await done('node create acme --id pack --name Pack --supported-comfyui-version >=0.3');
    expect(last()?.body).toEqual({ id: 'pack', name: 'Pack', supported_comfyui_version: '>=0.3' });
    expect(JSON.parse((await done('node get pack --json')).stdout)).toMatchObject({
      github_stars: 7,
      supported_comfyui_version: '>=0.3',
    });
    expect((await done('node get pack')).stdout).toContain('github_stars\t7');
    await done(['node', 'update', 'acme', 'pack', '--body', '{"supported_comfyui_version":">=0.4"}']);
    expect(last()?.body).toEqual({ supported_comfyui_version: '>=0.4' });
    expect((await done('node list acme')).stdout).toContain('pack');
    expect((await done('node search pac')).stdout).toContain('pack');
    expect(last()?.path).toBe('/nodes/search');
  });

  test('publishes with the token alone, and reads, compares and downloads', async () => {
    const { done, run, registry, cwd } = await createDesk();
    const published = await done(['version', 'publish', packForTest(), '--json']);
    expect(JSON.parse(published.stdout)).toMatchObject({
      status: 'NodeVersionStatusActive',
      comfy_node_extract_status: 'success',
    });
    const again = await run(['version', 'publish', packForTest({ files: { 'more.py': 'A = 1\n' } })]);
    expect([again.exit, again.stderr]).toEqual([
      5,
      expect.stringContaining('already published with other files'),
    ]);
    await done(['version', 'publish', packForTest(), '--skip-existing']);
    await done(['version', 'publish', packForTest({ version: '1.1.0' })]);
    expect((await done('version list pack')).stdout).toContain('1.1.0\tNodeVersionStatusActive');
    expect(JSON.parse((await done('version bulk pack@1.0.0 --json')).stdout).node_versions[0]).toMatchObject({
      node_version: { comfy_node_extract_status: 'success' },
    });
    expect((await done('version diff pack 1.0.0 1.1.0')).stdout).toContain('Greet');
    expect((await done('host-nodes list pack 1.0.0')).stdout).toContain('Greet');
    expect((await done('host-nodes list pack 1.0.0 --json')).stdout).toContain('"comfy_node_name":"Greet"');
    await done('host-nodes list --host-node-name Greet');
    expect(registry.asked.at(-1)?.query.get('comfy_node_name')).toBe('Greet');
    await done('version download pack 1.0.0');
    expect(readdirSync(cwd)).toContain('pack-1.0.0.zip');
    await done('version update acme pack 1.0.0 --changelog New');
  });

  test('takes ids of publishers that are too short for a service of regen', async () => {
    const { done, run } = await createDesk();
    const pack = packForTest({ publisher: 'ai' });
    await done(['version', 'publish', pack]);
    expect((await run(['version', 'check', pack], { env: { REGEN_PROFILE: 'local' } })).stderr).toContain(
      'PublisherId',
    );
  });

  test('completes a short version number as that registry does', async () => {
    const { done, run } = await createDesk();
    const pack = packForTest({ version: '1.21' });
    const { stderr } = await done(['version', 'publish', pack]);
    expect(stderr).toContain('[project] version is 1.21; the registry makes it 1.21.0.');
    const again = await done(['version', 'publish', pack, '--skip-existing', '--json']);
    expect(JSON.parse(again.stdout).version).toBe('1.21.0');
    const plain = { env: { REGEN_PROFILE: 'local' } };
    expect((await run(['version', 'check', pack], plain)).stderr).toContain('write 1.21.0');
    await done(['version', 'check', pack, '--for', 'comfy'], plain);
  });

  test('passes on the messages of its errors, with our exit codes', async () => {
    const { run, done } = await createDesk();
    await done('node create acme --id pack --name Pack');
    const twice = await run('node create acme --id pack --name Pack');
    expect([twice.exit, twice.stderr]).toEqual([
      5,
      expect.stringContaining('node with same repo already exists'),
    ]);
    const pat = await run(['version', 'publish', packForTest()], {
      env: { REGEN_PROFILE: 'comfy', REGEN_PUBLISH_TOKEN: 'wrong' },
    });
    expect([pat.exit, pat.stderr]).toEqual([4, expect.stringContaining('Invalid personal access token')]);
    const video = await run(['video', 'text2video', 'too long']);
    expect([video.exit, video.stderr]).toEqual([
      2,
      expect.stringContaining('bad request: prompt is too long for viduq3-pro'),
    ]);
    const missing = await run('node get nothing');
    expect(missing.exit).toBe(3);
  });

  test('says why a version was flagged there, by file and line', async () => {
    const { run, done, registry } = await createDesk();
    registry.verdict.status = 'NodeVersionStatusFlagged';
    registry.verdict.reason = JSON.stringify({
      issues: [
        {
          scanner: 'yara_scan',
          issue_type: 'python_network_operations',
          file_path: 'web/a.js',
          line_number: 7,
        },
      ],
    });
    const flagged = await run(['version', 'publish', packForTest()]);
    expect([flagged.exit, flagged.stderr]).toEqual([6, expect.stringContaining('python_network_operations')]);
    const row = '1.0.0\tNodeVersionStatusFlagged\tweb/a.js:7\tpython_network_operations\t\t\n';
    expect((await done('version list pack --reasons')).stdout).toBe(row);
    expect((await done('version get pack 1.0.0 --reasons')).stdout).toBe(row);
    expect((await run('version get pack 9.9.9 --reasons')).exit).toBe(3);
    Object.assign(registry.verdict, { status: 'NodeVersionStatusPending', reason: '' });
    const waiting = await run([
      'version',
      'publish',
      packForTest({ version: '1.1.0' }),
      '--wait',
      '--timeout',
      '1s',
    ]);
    expect([waiting.exit, waiting.stderr]).toEqual([
      8,
      expect.stringMatching(
        /has not finished its checks\.\nhint: See the verdict later with: regen version get (--\S+ \S+ )*pack 1\.1\.0\n/,
      ),
    ]);
    const left = await run(['version', 'publish', packForTest({ version: '1.2.0' }), '--no-wait']);
    expect([left.exit, left.stderr]).toEqual([
      0,
      expect.stringMatching(
        /pack 1\.2\.0 is uploaded\. See the verdict later with: regen version get .*pack 1\.2\.0\n/,
      ),
    ]);
    const list = await done('version list pack --reasons --statuses NodeVersionStatusPending');
    expect(list.stderr).toContain('versions still wait for a verdict');
  });

  test('counts a version as published before its definitions are extracted', async () => {
    const { done, registry } = await createDesk();
    registry.verdict.extracts = false;
    const { stderr } = await done(['version', 'publish', packForTest(), '--timeout', '1s']);
    expect(stderr).toContain('pack 1.0.0 is Active; its node definitions are not extracted yet.');
  });

  test('verifies a credential although it cannot say whose it is', async () => {
    const { done, run } = await createDesk();
    await done('publisher create --id acme --name Acme');
    expect(JSON.parse((await done('auth status --json')).stdout)).toMatchObject({
      publishers: [{ id: 'acme' }],
    });
    const { exit } = await run('auth status', { env: { REGEN_PROFILE: 'comfy', REGEN_TOKEN: 'wrong' } });
    expect(exit).toBe(4);
  });

  test('lets an admin sign in and ban', async () => {
    const { done, last } = await createDesk();
    await done('node create acme --id pack --name Pack');
    expect((await done('admin generate-token')).stdout).toBe('admin.jwt\n');
    await done('admin node ban pack');
    expect(last()?.body).toEqual({ status: 'NodeStatusBanned' });
  });
});

describe('generation on a profile with the naming comfy', () => {
  test.each([
    'image relight a.png --prompt warm',
    'image skin-enhancer a.png --sharpen 3',
    'image upscaler a.png',
    'image style-transfer a.png a.png',
  ])('%s waits for its result', async (line) => {
    const { done, registry } = await createDesk();
    expect((await done(line)).stdout).toBe(`${registry.url}/results/a.png\n`);
    expect(registry.asked.every(({ path }) => !path.includes('imagevendor'))).toBe(true);
  });

  test.each([
    ['comfy', 'viduq2-pro'],
    ['local', 'vvq2-pro'],
  ])('on the profile %s a problem has the model %s', async (profile, model) => {
    const { run } = await createDesk();
    const line = `video text2video boat --profile ${profile} --model ${model} --duration 12`;
    expect((await run(line)).stderr).toBe(
      `error: --duration must be 1 to 8 with ${model}; 8 is the nearest.\n`,
    );
  });

  test.each(['--supported-comfyui-version', '--supported-hostui-version'])(
    'a problem names the flag %s as it was typed',
    async (flag) => {
      const { run } = await createDesk();
      const { exit, stderr } = await run(
        `node create acme --id pack --name Pack ${flag} ${'x'.repeat(1001)}`,
      );
      expect([exit, stderr]).toEqual([2, `error: ${flag} must have at most 1000 characters.\n`]);
    },
  );

  test('accepts and shows models by the names of the service', async () => {
    const { done, run, registry } = await createDesk();
    const boat = ['video', 'text2video', 'a boat', '--model'];
    const { stdout } = await done([...boat, 'viduq2-pro', '--no-wait', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ model: 'viduq2-pro' });
    expect((await done([...boat, 'vvq2-pro'])).stdout).toBe(`${registry.url}/results/a.mp4\n`);
    const sent = registry.asked.filter(({ path }) => path === '/proxy/vidu/text2video');
    expect(sent.map(({ body }) => body.model)).toEqual(['viduq2-pro', 'viduq2-pro']);
    const wrong = await run([...boat, 'viduq2-pro', '--duration', '12']);
    expect([wrong.exit, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('--duration must be 1 to 8 with viduq2-pro; 8 is the nearest'),
    ]);
    const preview = await done([...boat, 'vvq3-pro', '--dry-run', '--json']);
    expect(JSON.parse(preview.stdout)).toMatchObject({
      url: `${registry.url}/proxy/vidu/text2video`,
      body: { model: 'viduq3-pro' },
    });
  });

  test('sends unknown models and resolutions with a warning', async () => {
    const { done, last } = await createDesk();
    const line = 'video text2video boat --model viduq9 --resolution 8K --no-wait';
    const { stderr } = await done(line);
    expect(stderr).toContain(
      'warning: As far as this version of regen knows, --model must be one of viduq3-pro',
    );
    expect(stderr).toContain('--resolution must be one of');
    expect(stderr).toContain('comfy decides.');
    expect(last()?.body).toMatchObject({ model: 'viduq9', resolution: '8K' });
  });

  test('extends a video by its URL alone', async () => {
    const { done, registry } = await createDesk();
    await done('video extend --model viduq2-turbo --video-url https://example.com/a.mp4');
    const sent = registry.asked.find(({ path }) => path === '/proxy/vidu/extend');
    expect(sent?.body).toEqual({ model: 'viduq2-turbo', video_url: 'https://example.com/a.mp4' });
  });
});

test('a dry run of a task of another profile has the address and the names of its service', async () => {
  const { done, registry } = await createDesk();
  await done('video text2video boat --model viduq2-pro --no-wait');
  const elsewhere = { env: {} };
  const again = await done('task rerun @last --dry-run --json', elsewhere);
  expect(JSON.parse(again.stdout)).toMatchObject({
    url: `${registry.url}/proxy/vidu/text2video`,
    body: { model: 'viduq2-pro' },
  });
  const cancel = await done('task cancel @last --dry-run', elsewhere);
  expect(cancel.stdout).toContain(registry.url);
});

describe('completion', () => {
  test('offers the names of the service, and knows the model by either name', async () => {
    const { done } = await createDesk();
    const complete = async (...words: string[]) =>
      (await done(['__complete', `--current=${words.at(-1)}`, '--', ...words.slice(0, -1)])).stdout;
    expect(await complete('video', 'text2video', '--model', '')).toBe(
      'viduq3-pro\nviduq2-pro-fast\nviduq2-pro\nviduq2-turbo\nviduq1\nviduq1-classic\nvidu2.0\n',
    );
    for (const model of ['viduq1', 'vvq1'])
      expect(await complete('video', 'text2video', '--model', model, '--duration', '')).toBe('5\n');
    expect(await complete('admin', 'host-node', 'set-policy', '--policy', '')).toContain('banned');
    const flags = await complete('node', 'create', '--');
    expect(flags).toContain('--supported-comfyui-version\t');
    expect(flags).not.toContain('hostui');
    const plain = ['video', 'text2video', '--profile', 'local', '--model', ''];
    expect(await complete(...plain)).toContain('vvq3-pro\n');
    expect(await complete('video', 'text2video', '--profile', 'nowhere', '--model', '')).toContain(
      'vvq3-pro\n',
    );
  });
});

describe('help', () => {
  test('has the name of the service for every flag and value that has another one there', () => {
    // Statuses have short names, which are the same everywhere.
    const own = /hostui|host[-_]node|repo[-_]stars|^vv/;
    const missing = commandTree().commands.flatMap(({ words, flags, notes = [] }) => {
      const shown = flags.filter(({ hidden }) => !hidden);
      const names = shown.flatMap(({ name, choices = [] }) => [
        `--${name}`,
        // Statuses and policies have short names, which are the same everywhere.
        // Kinds of the audit are words of its own.
        ...(name === 'kind' ? [] : choices.filter((choice) => shortenStatus(choice) === undefined)),
      ]);
      const said = notes.join(' ');
      return names
        .filter((name) => own.test(name) && !said.includes(` for ${name}`))
        .map((name) => [words, name]);
    });
    expect(missing).toEqual([]);
  });

  test('says both names of flags and values', async () => {
    const { done } = await createDesk();
    expect((await done('video text2video --help')).stdout.replace(/\s+/g, ' ')).toContain(
      'On a profile with the naming comfy, write viduq3-pro for vvq3-pro, viduq2-pro-fast for vvq2-pro-fast',
    );
    expect((await done('node create --help')).stdout.replace(/\s+/g, ' ')).toContain(
      '--supported-comfyui-version for --supported-hostui-version',
    );
  });
});

describe('the setting', () => {
  test('may be a file, whose problems are all reported before anything is sent', async () => {
    const { run, done, cwd, registry } = await createDesk();
    writeFileSync(join(cwd, 'names.json'), '{"fields": {"repo_star": "stars", "rating": "downloads"}}');
    await done('config set profiles.comfy.naming names.json');
    const { exit, stderr } = await run('node get pack');
    expect(exit).toBe(2);
    expect(stderr).toMatch(/The naming \S+names.json is not valid\./);
    expect(stderr).toContain('fields.repo_star is not a field of the contract');
    expect(stderr).toContain('fields.rating must not be downloads');
    expect(registry.asked).toEqual([]);
    await done('config set profiles.comfy.naming missing.json');
    expect((await run('node get pack')).stderr).toMatch(/Could not read the naming \S+missing.json/);
  });

  test('belongs to the profile in use, although another profile has the same address', async () => {
    const { run, done, registry } = await createDesk();
    await done(`config set profiles.studio.base_url ${registry.url}`);
    const listed = async (line: string, more: Surroundings = {}) => {
      await run(`host-nodes list pack 1.0.0 ${line}`.trim(), more);
      return registry.asked.at(-1)?.path.split('/').at(-1);
    };
    expect(await listed('--profile studio')).toBe('host-nodes');
    expect(await listed('', { env: { REGEN_PROFILE: 'studio' } })).toBe('host-nodes');
    await done('config set profile studio');
    expect(await listed('', { env: {} })).toBe('host-nodes');
    expect(await listed('--profile comfy')).toBe('comfy-nodes');

    const complete = ['__complete', '--current=', '--', 'video', 'text2video', '--profile', 'studio'];
    expect((await done([...complete, '--model'])).stdout).toContain('vvq3-pro\n');
    // The token alone signs the request, so that a second client is made for it.
    const env = { REGEN_PROFILE: 'comfy', REGEN_PUBLISH_TOKEN: registry.pat };
    await done(['version', 'publish', packForTest(), '--json'], { env });
  });

  test('offers no names that a shell would run', async () => {
    const { done, cwd } = await createDesk();
    const model = { 'vvq3-pro': '$(touch owned)', 'vvq2-pro': 'pro-2' };
    writeFileSync(join(cwd, 'names.json'), JSON.stringify({ values: { model } }));
    await done('config set profiles.comfy.naming names.json');
    const complete = [
      '__complete',
      '--current=',
      '--',
      'video',
      'text2video',
      '--profile',
      'comfy',
      '--model',
    ];
    const { stdout } = await done(complete);
    expect(stdout).toContain('pro-2\n');
    expect(stdout).not.toContain('touch');
  });

  test('of an address alone comes from its profiles, which must agree', async () => {
    const { run, done, registry } = await createDesk();
    const byAddress = `host-nodes list pack 1.0.0 --base-url ${registry.url}/`;
    await run(byAddress);
    expect(registry.asked.at(-1)?.path).toBe('/nodes/pack/versions/1.0.0/comfy-nodes');
    await done(`config set profiles.studio.base_url ${registry.url}`);
    const before = registry.asked.length;
    const { exit, stderr } = await run(byAddress);
    expect([exit, registry.asked.length]).toEqual([2, before]);
    expect(stderr).toContain('is the address of the profiles comfy and studio, which have different namings');
    expect(stderr).toContain('--profile comfy');
    const variable = { env: { REGEN_BASE_URL: registry.url, REGEN_TOKEN: 'me' } };
    expect((await run('node get pack', variable)).stderr).toContain('different namings');
    await done('config set profiles.studio.naming comfy');
    await run(byAddress);
    expect(registry.asked.at(-1)?.path).toBe('/nodes/pack/versions/1.0.0/comfy-nodes');
  });

  test('is ignored by the embedded service, and regen means no renaming', async () => {
    const { run, done, registry } = await createDesk();
    expect((await run('config set profiles.local.naming comfy')).exit).toBe(2);
    await done('config set profiles.comfy.naming regen');
    await run('host-nodes list pack 1.0.0');
    expect(registry.asked.at(-1)?.path).toBe('/nodes/pack/versions/1.0.0/host-nodes');
  });
});
