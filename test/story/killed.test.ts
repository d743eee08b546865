import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { homeForTest, regen, startRegen } from '../support/cli.js';
import { packForTest } from '../support/packs.js';
import { publisherForTest, serviceForTest } from '../support/service.js';
import { type ProxyStep, steppingProxyForTest } from '../support/stepping-proxy.js';

const isUpload = ({ path }: ProxyStep) => path.startsWith('/uploads/');
const isRegistration = ({ method, path }: ProxyStep) =>
  method === 'POST' && path.endsWith('/versions') && !path.startsWith('/bulk');

/** Each step of publishing at which a client may die. */
const deaths: Record<string, () => (moment: ProxyStep) => boolean> = {
  'before it registers': () => (moment) => isRegistration(moment) && moment.at === 'asked',
  'after it registered, before it hears so': () => (moment) =>
    isRegistration(moment) && moment.at === 'answered',
  'before it uploads': () => (moment) => isUpload(moment) && moment.at === 'asked',
  'in the middle of the upload': () => (moment) => isUpload(moment) && moment.at === 'half',
  'after the upload, before it hears so': () => (moment) => isUpload(moment) && moment.at === 'answered',
  'while it waits': () => {
    let uploaded = false;
    return (moment) => {
      uploaded ||= isUpload(moment) && moment.at === 'answered';
      return uploaded && moment.path === '/bulk/nodes/versions';
    };
  },
};

test.each(Object.keys(deaths))(
  'a publish killed %s and run again ends with one Active version of the same files',
  async (when) => {
    let moment = (_: ProxyStep) => {};
    let target = '';
    const gate = await steppingProxyForTest(
      () => target,
      (now) => moment(now),
    );
    const service = await serviceForTest({ publicUrl: gate });
    target = service.localUrl;
    const { personalAccessToken } = await publisherForTest({ ...service, url: target });
    const home = homeForTest();
    const env = {
      REGEN_BASE_URL: gate,
      REGEN_TOKEN: service.ownerToken,
      REGEN_PUBLISH_TOKEN: personalAccessToken,
    };
    const pack = packForTest({ files: { 'weights.bin': randomBytes(3_000_000) } });

    const dies = deaths[when]?.() as (moment: ProxyStep) => boolean;
    const first = startRegen(['version', 'publish', pack], { home, env });
    moment = (now) => {
      if (dies(now)) first.child.kill('SIGKILL');
    };
    const killed = await first.ended;
    moment = () => {};
    expect(killed.exit).toBe(137);

    const again = await startRegen(['version', 'publish', pack, '--skip-existing', '--json'], { home, env })
      .ended;
    expect(again.exit, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 'NodeVersionStatusActive',
      host_node_extract_status: 'success',
    });
    const listed = await regen(['version', 'list', 'pack', '--json'], { env });
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    const same = await regen(['version', 'publish', pack], { env });
    expect(same.exit).toBe(5);
    expect(same.stderr).toContain('with the same files');
  },
);

test('a lost answer to the registration is read back before anything is repeated', async () => {
  let target = '';
  let lost = 0;
  const gate = await steppingProxyForTest(
    () => target,
    (moment) => {
      if (isRegistration(moment) && moment.at === 'answered' && lost++ === 0)
        throw new Error('the line broke');
    },
  );
  const service = await serviceForTest({ publicUrl: gate });
  target = service.localUrl;
  const { personalAccessToken } = await publisherForTest({ ...service, url: target });
  const env = {
    REGEN_BASE_URL: gate,
    REGEN_TOKEN: service.ownerToken,
    REGEN_PUBLISH_TOKEN: personalAccessToken,
  };
  const { exit, stdout } = await regen(['version', 'publish', packForTest(), '--json'], { env });
  expect(lost).toBeGreaterThan(0);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'NodeVersionStatusActive' });
});
