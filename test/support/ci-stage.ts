import { expect } from 'vitest';
import { createJobClaims, runnerForTest } from './ci-jobs.js';
import { regen } from './cli.js';
import { issuerForTest } from './issuer.js';
import { publisherForTest, serviceForTest } from './service.js';
import { type ProxyStep, steppingProxyForTest } from './stepping-proxy.js';

/**
 * A service that accepts the jobs of a runner, and the publisher acme, whose owner uses the command line.
 * @param given more flags of the trust of octo/light
 */
export async function ciStageForTest(given: readonly string[] = []) {
  const issuer = await issuerForTest();
  const runner = await runnerForTest(issuer);
  const requests: string[] = [];
  const listeners: ((step: ProxyStep) => void)[] = [];
  let target = '';
  const url = await steppingProxyForTest(
    () => target,
    (step) => {
      if (step.at === 'asked') requests.push(`${step.method} ${step.path}`);
      for (const listen of listeners) listen(step);
    },
  );
  const clock = { ahead: 0 };
  const service = await serviceForTest(
    { publicUrl: url, publish: { issuers: [{ kind: 'github', issuer: issuer.url }] } },
    { now: () => Date.now() + clock.ahead },
  );
  target = service.localUrl;
  const { personalAccessToken } = await publisherForTest({ ...service, url: target });
  const owner = { REGEN_BASE_URL: url, REGEN_TOKEN: service.ownerToken };
  const trust = async (repository: string, more: readonly string[] = []) => {
    const flags = ['--issuer', 'github', '--repository', repository, '--workflow', 'release.yml', ...more];
    const added = await regen(['publisher', 'trust', 'add', 'acme', ...flags], { env: owner });
    expect(added.exit, added.stderr).toBe(0);
  };
  await trust('octo/light', given);
  requests.length = 0;
  const job = { ...runner.env, REGEN_BASE_URL: url };
  const sign = (claims: object = {}) => issuer.sign(createJobClaims({ aud: url, ...claims }));
  const token = { REGEN_BASE_URL: url, REGEN_PUBLISH_TOKEN: personalAccessToken };
  return {
    url,
    runner,
    requests,
    listeners,
    service,
    clock,
    owner,
    job,
    sign,
    trust,
    token,
    personalAccessToken,
  };
}
