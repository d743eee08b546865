import { appendFileSync, writeFileSync } from 'node:fs';
import { EOL } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ciStageForTest } from '../support/ci-stage.js';
import { homeForTest, homeWithService, regen, startRegen } from '../support/cli.js';
import { packForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';
import type { ProxyStep } from '../support/stepping-proxy.js';

const publish = ['version', 'publish', '--json'];

describe('version publish in a CI job', () => {
  it('uses the identity of GitHub Actions, says so, and shows where the version comes from', async () => {
    const { job, url, runner, owner } = await ciStageForTest();
    const { exit, stderr } = await regen(['version', 'publish', packForTest()], { env: job });
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain('Publishing for acme with the identity of GitHub Actions.');
    expect(runner.audiences).toEqual([url]);
    const read = await regen(['version', 'get', 'pack', '1.0.0', '--json'], { env: owner });
    expect(JSON.parse(read.stdout)).toMatchObject({
      status: 'NodeVersionStatusActive',
      provenance: { repository: 'octo/light', run: '4242' },
    });
    const shown = await regen(['version', 'get', 'pack', '1.0.0'], { env: owner });
    expect(shown.stdout).toContain('provenance.repository\tocto/light\n');
    expect(shown.stdout).toContain('provenance.commit\tc0ffee');
    const again = await regen([...publish, packForTest(), '--skip-existing'], { env: job });
    expect(again.exit, again.stderr).toBe(0);
  });

  it.each(['REGEN_ID_TOKEN', '--id-token-file'])('uses %s', async (source) => {
    const { job, sign } = await ciStageForTest();
    const { REGEN_BASE_URL } = job;
    const token = await sign();
    const file = join(folderForTest(), 'token.txt');
    writeFileSync(file, `${token}\n`);
    const isFile = source === '--id-token-file';
    const flags = isFile ? ['--id-token-file', file] : [];
    const env = isFile ? job : { REGEN_BASE_URL, REGEN_ID_TOKEN: token };
    const { exit, stderr } = await regen(['version', 'publish', packForTest(), ...flags], { env });
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain(`Publishing for acme with the identity in ${isFile ? file : source}.`);
  });

  it('publishes several packs of a publisher with one identity', async () => {
    const { job, sign } = await ciStageForTest();
    const packs = ['one', 'two'].map((name) => packForTest({ name }));
    const env = { REGEN_BASE_URL: job.REGEN_BASE_URL, REGEN_ID_TOKEN: await sign() };
    const { exit, stderr } = await regen([...publish, ...packs], { env });
    expect(exit, stderr).toBe(0);
  });

  it('never uses another credential once the identity is refused, and explains the refusal', async () => {
    const { job, runner, owner, requests } = await ciStageForTest();
    runner.claims = { workflow_ref: 'octo/light/.github/workflows/test.yml@refs/heads/main' };
    // The owner's token could create a personal access token.
    const env = { ...job, REGEN_TOKEN: owner.REGEN_TOKEN };
    const { exit, stderr } = await regen([...publish, packForTest()], { env, answers: [] });
    expect(exit).toBe(4);
    const { error } = JSON.parse(stderr.split('\n').find((line) => line.startsWith('{')) ?? '');
    expect(error).toMatchObject({
      code: 'identity_refused',
      details: [{ path: 'workflow_ref', message: 'must be release.yml, not test.yml' }],
    });
    expect(requests).toEqual(['POST /publishers/acme/trusts/exchange']);
    const check = await regen(['publisher', 'trust', 'check', 'acme'], { env: job });
    expect(check.exit).toBe(4);
    expect(check.stdout).toContain('workflow_ref\tfalse\trelease.yml\ttest.yml\n');
    runner.claims = {};
    const passed = await regen(['publisher', 'trust', 'check', 'acme', '--node', 'pack'], { env: job });
    expect([passed.exit, passed.stderr]).toEqual([
      0,
      expect.stringContaining('accepts the identity of GitHub'),
    ]);
  });

  it('without the permission for an identity says which one is missing', async () => {
    const { job } = await ciStageForTest();
    const { REGEN_BASE_URL } = job;
    const without = { REGEN_BASE_URL, GITHUB_ACTIONS: 'true' };
    const none = await regen([...publish, packForTest()], { env: without });
    expect([none.exit, none.stderr]).toEqual([4, expect.stringContaining('id-token: write')]);
    const env = { ...job, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'wrong' };
    const refused = await regen([...publish, packForTest()], { env });
    expect(refused.exit).toBe(4);
    expect(refused.stderr).toContain('GitHub Actions gave no identity token (status 401).');
  });

  it('never publishes to the service of the runner because no registry is named', async () => {
    const { runner } = await ciStageForTest();
    const options = { env: runner.env, home: homeWithService() };
    const { exit, stderr } = await startRegen([...publish, packForTest()], options).ended;
    expect([exit, stderr]).toEqual([2, expect.stringContaining('and no service is named')]);
  });

  it('never sends an identity token that another service would accept', async () => {
    const { job, sign, requests } = await ciStageForTest();
    const token = await sign({ aud: 'https://other.example.org' });
    const env = { REGEN_BASE_URL: job.REGEN_BASE_URL, REGEN_ID_TOKEN: token };
    const { exit, stderr } = await regen([...publish, packForTest()], { env });
    expect([exit, requests]).toEqual([4, []]);
    expect(stderr).toContain('is for https://other.example.org instead of');
  });

  it('refuses an identity beside a token, and a folder that chooses one', async () => {
    const { job, personalAccessToken } = await ciStageForTest();
    const env = { ...job, REGEN_PUBLISH_TOKEN: personalAccessToken };
    const both = await regen([...publish, packForTest(), '--id-token-file', 'token.txt'], { env });
    expect([both.exit, both.stderr]).toEqual([2, expect.stringContaining('cannot be used together')]);
    const folder = packForTest();
    const defaults = ['', '[tool.regen]', 'id-token-file = "token.txt"', ''];
    appendFileSync(join(folder, 'pyproject.toml'), defaults.join(EOL));
    const chosen = await regen([...publish, folder], { env: job });
    expect([chosen.exit, chosen.stderr]).toEqual([2, expect.stringContaining('cannot be set there')]);
  });

  it('with a token sends the same requests as outside of CI, and does not ask the runner', async () => {
    const { job, token, requests, runner } = await ciStageForTest();
    // How often the verdict is asked for depends on the machine.
    const listOnce = () => requests.splice(0).filter((request, at, all) => request !== all[at - 1]);
    const run = async (env: Record<string, string>, name: string) => {
      const { exit, stderr } = await regen(['version', 'publish', packForTest({ name })], { env });
      expect(exit, stderr).toBe(0);
      return { stderr, requests: listOnce().map((request) => request.replace(name, 'pack')) };
    };
    const outside = await run(token, 'outside');
    const inside = await run({ ...job, ...token }, 'inside');
    expect(inside.requests).toEqual(outside.requests);
    expect(inside.requests).toContain('PUT /uploads/acme/pack/1.0.0/node.zip');
    expect(inside.requests.filter((request) => request.includes('trusts'))).toEqual([]);
    expect(runner.audiences).toEqual([]);
    expect(outside.stderr).not.toContain('identity');
    expect(inside.stderr).toContain(
      'Publishing with REGEN_PUBLISH_TOKEN; the identity of GitHub Actions is not used.',
    );
  });
});

describe('after three versions of CI jobs', () => {
  /** Publishes three versions of a node as a CI job. */
  async function withThreeVersions() {
    const stage = await ciStageForTest();
    const release = (version: string, env: Record<string, string> = stage.job) =>
      regen([...publish, packForTest({ version })], { env });
    for (const version of ['1.0.0', '1.0.1', '1.0.2']) expect((await release(version)).exit).toBe(0);
    return { ...stage, release };
  }

  it('one that was published with a stored token is held for an admin, and the next ones if one was approved are not', async () => {
    const { token, release, owner } = await withThreeVersions();
    const held = await release('1.0.3', token);
    expect(held.exit).toBe(6);
    expect(held.stderr).toContain(
      'The last 3 versions came from CI jobs of octo/light, and this one came with a stored token; an admin of the registry has to review it.',
    );
    expect((await release('1.0.4')).exit).toBe(0);
    const approve = ['admin', 'version', 'set-status', 'pack', '1.0.3', 'NodeVersionStatusActive'];
    expect((await regen(approve, { env: owner })).exit).toBe(0);
    expect((await release('1.0.5', token)).exit).toBe(0);
  });

  it('one of another repository is held, but not one of the same that was renamed', async () => {
    const { release, trust, runner } = await withThreeVersions();
    await trust('octo/other');
    await trust('octo/renamed');
    const asRepository = (repository: string, id: string) => ({
      repository,
      ...{ repository_id: id, workflow_ref: `${repository}/.github/workflows/release.yml@refs/heads/main` },
    });
    runner.claims = asRepository('octo/other', '2002');
    const held = await release('1.0.3');
    expect([held.exit, held.stderr]).toEqual([6, expect.stringContaining('came from CI jobs of octo/other')]);
    runner.claims = asRepository('octo/renamed', '1001');
    expect((await release('1.0.4')).exit).toBe(0);
  });
});

describe('a publish of a CI job that is killed', () => {
  const isExchange = ({ path }: ProxyStep) => path.endsWith('/trusts/exchange');
  it.each([
    ['before its identity is exchanged', (step: ProxyStep) => isExchange(step) && step.at === 'asked'],
    ['before it has the answer', (step: ProxyStep) => isExchange(step) && step.at === 'answered'],
    ['during the upload', ({ path, at }: ProxyStep) => path.endsWith('/node.zip') && at === 'asked'],
  ])('%s is completed by the next run of the job', async (_, dies) => {
    const { job, listeners, owner } = await ciStageForTest();
    const home = homeForTest();
    const pack = packForTest();
    const first = startRegen([...publish, pack], { home, env: job });
    listeners.push((step) => {
      if (dies(step)) first.child.kill('SIGKILL');
    });
    expect((await first.ended).exit).toBe(137);
    listeners.length = 0;
    const again = await startRegen([...publish, pack, '--skip-existing'], { home, env: job }).ended;
    expect(again.exit, again.stderr).toBe(0);
    const listed = await regen(['version', 'list', 'pack', '--json'], { env: owner });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ provenance: { run: '4242' } }]);
  });

  it('by a lost answer goes on with a new identity token by itself', async () => {
    const { job, listeners, runner } = await ciStageForTest();
    let lost = 0;
    listeners.push((step) => {
      if (isExchange(step) && step.at === 'answered' && lost++ === 0) throw new Error('the line broke');
    });
    const { exit, stderr } = await regen([...publish, packForTest()], { env: job });
    expect([exit, lost, runner.audiences.length], stderr).toEqual([0, 2, 2]);
  });
});
