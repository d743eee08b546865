import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { regen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { hostForTest, packRegistryForTest } from '../../support/pack-registry.js';

type Host = ReturnType<typeof hostForTest>;

function writeLock({ cwd }: Host, registry: string, naming = 'regen'): void {
  const text = `format = 1\nregistry = "${registry}"\nnaming = "${naming}"\n\n[[node]]\nid = "pack"\nversion = "1.0.0"\n`;
  writeFileSync(join(cwd, 'regen.lock'), text);
}

/** A checkout with a lock file of a registry, which its user does not name. */
function checkoutForTest(registry: string, naming?: string): Host {
  const host = hostForTest({ REGEN_NO_AUTOSTART: '1' });
  writeLock(host, registry, naming);
  const pack = { id: 1, type: 'Unknown', properties: { cnr_id: 'pack', ver: '1.0.0' } };
  writeFileSync(join(host.cwd, 'flow.json'), JSON.stringify({ nodes: [pack], links: [] }));
  return host;
}

/** A registry that has nothing, and remembers the credentials that it got. */
async function strangerForTest() {
  const asked: { readonly path: string; readonly credential: string | undefined }[] = [];
  const { url, close } = await listenOn((request, response) => {
    asked.push({ path: request.url ?? '', credential: request.headers.authorization });
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"message":"not here"}');
  });
  onTestFinished(close);
  return { url, asked };
}

const setAddress = ({ run }: Host, profile: string, url: string) =>
  run(['config', 'set', `profiles.${profile}.base_url`, url]);

const INTO = ['--into', 'custom_nodes'];
const AUDIT = ['node', 'audit', 'custom_nodes'];
const READS = [['node', 'outdated', 'custom_nodes'], AUDIT, ['workflow', 'check', 'flow.json']];
const CHANGES = [
  ['node', 'install', 'pack@1.0.0', ...INTO],
  ['node', 'sync', ...INTO],
];

describe('a command that reads a lock file', () => {
  test('asks the registry of the lock file, and says so', async () => {
    const { service } = await packRegistryForTest([{}]);
    for (const argv of [...CHANGES, ...READS]) {
      const { stderr } = await checkoutForTest(service.url).run(argv);
      expect(stderr).toContain(`Using the registry of regen.lock: ${service.url}.`);
      expect(stderr).not.toContain('error:');
    }
  });

  test('asks the registry that a flag, the environment or the project names instead', async () => {
    const { service } = await packRegistryForTest([{}]);
    const stranger = await strangerForTest();
    const named = async (argv: readonly string[], env?: Record<string, string>, project?: string) => {
      const host = checkoutForTest(stranger.url);
      await setAddress(host, 'studio', service.url);
      if (project) writeFileSync(join(host.cwd, 'pyproject.toml'), project);
      return host.run(argv, env);
    };
    for (const argv of READS) {
      const runs = [
        await named([...argv, '--profile', 'studio']),
        await named(argv, { REGEN_BASE_URL: service.url }),
        await named(argv, { REGEN_PROFILE: 'studio' }),
        await named(argv, {}, '[tool.regen]\nprofile = "studio"\n'),
      ];
      for (const { stderr } of runs) expect(stderr).not.toMatch(/regen\.lock|error:/);
    }
    for (const argv of CHANGES) {
      const refused = await named([...argv, '--profile', 'studio']);
      expect(refused.exit).toBe(2);
      expect(refused.stderr).toContain(`regen.lock belongs to the registry ${stranger.url}`);
    }
    expect(stranger.asked).toEqual([]);
  });

  test('takes the registry of the lock file before the profile of the settings', async () => {
    const { service } = await packRegistryForTest([{}]);
    const stranger = await strangerForTest();
    const host = checkoutForTest(service.url);
    await setAddress(host, 'other', stranger.url);
    await host.run(['config', 'set', 'profile', 'other']);
    for (const argv of READS) expect((await host.run(argv)).stderr).toContain(service.url);
    expect(stranger.asked).toEqual([]);
  });

  test('sends it the credential that the profile with its address has, and none that belongs to another', async () => {
    const [studio, stranger] = [await strangerForTest(), await strangerForTest()];
    const host = checkoutForTest(studio.url);
    await setAddress(host, 'studio', studio.url);
    const login = ['auth', 'login', '--with-token', '--profile', 'studio'];
    await regen(login, { home: host.home, cwd: host.cwd, stdin: 'secret-of-studio\n' });
    studio.asked.length = 0;
    const { stderr } = await host.run(AUDIT);
    expect(stderr).toContain(`Using the registry of regen.lock: studio (${studio.url}).`);
    await host.run(['workflow', 'check', 'flow.json']);
    expect(new Set(studio.asked.map(({ credential }) => credential))).toEqual(
      new Set(['Bearer secret-of-studio']),
    );

    // The same host under another path is another service, as is another port.
    for (const address of [`${studio.url}/other`, stranger.url]) {
      studio.asked.length = 0;
      writeLock(host, address);
      await host.run(['workflow', 'check', 'flow.json']);
      const asked = [...studio.asked, ...stranger.asked];
      expect(asked).not.toEqual([]);
      expect(asked.map(({ credential }) => credential).filter(Boolean)).toEqual([]);
    }
  });

  test('sends no token of the environment or the command line to an address that only the lock file names', async () => {
    const stranger = await strangerForTest();
    const host = checkoutForTest(stranger.url);
    writeFileSync(join(host.cwd, 'token.txt'), 'secret');
    for (const name of ['REGEN_TOKEN', 'REGEN_PUBLISH_TOKEN', 'REGEN_KEY_FILE']) {
      const refused = await host.run(AUDIT, { [name]: 'token.txt' });
      expect([refused.exit, refused.stderr]).toEqual([
        2,
        expect.stringContaining(`${name} is set, but only regen.lock names a service, ${stranger.url}.`),
      ]);
      expect(refused.stderr).toContain(`pass --base-url ${stranger.url}`);
    }
    expect((await host.run([...AUDIT, '--token-file', 'token.txt'])).exit).toBe(2);
    expect(stranger.asked).toEqual([]);
  });

  test('refuses to choose between several profiles with the address of the lock file', async () => {
    const { service } = await packRegistryForTest([{}]);
    const host = checkoutForTest(service.url);
    await setAddress(host, 'one', service.url);
    await setAddress(host, 'two', `${service.url}/`);
    const refused = await host.run(AUDIT);
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`${service.url} of regen.lock is the address of the profiles one and two.`),
    ]);
    expect((await host.run([...AUDIT, '--profile', 'two'])).stderr).toContain('Compared 0 packs with two.');
    await host.run(['config', 'set', 'profile', 'one']);
    expect((await host.run(AUDIT)).stderr).toContain('Compared 0 packs with one.');
  });

  test('uses the naming of the lock file without a profile, if it is not one of a file', async () => {
    const stranger = await strangerForTest();
    const host = checkoutForTest(stranger.url, 'comfy');
    await host.run(['workflow', 'check', 'flow.json']);
    expect(stranger.asked.map(({ path }) => path).join('\n')).toContain('comfy-nodes');
    writeLock(host, stranger.url, 'custom');
    const refused = await host.run(AUDIT);
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining('regen.lock was written with the naming custom, but this command uses regen.'),
    ]);
  });
});

test('node remove accepts the registry of the lock file by name, and no other', async () => {
  const { service } = await packRegistryForTest([{}]);
  const host = checkoutForTest(service.url);
  await setAddress(host, 'studio', service.url);
  expect((await host.run(CHANGES[0] as string[])).exit).toBe(0);
  const remove = ['node', 'remove', 'pack', ...INTO];
  const refused = await host.run([...remove, '--base-url', 'http://127.0.0.1:9']);
  expect([refused.exit, refused.stderr]).toEqual([
    2,
    expect.stringContaining('regen.lock belongs to the registry'),
  ]);
  expect((await host.run([...remove, '--profile', 'studio'])).exit).toBe(0);
});
