import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { createJobClaims } from '../../support/ci-jobs.js';
import { startIssuer } from '../../support/issuer.js';
import { publishBody, type Registry, startRegistry } from '../../support/registry.js';
import { type Answered, ask } from '../../support/service.js';

const issuer = await startIssuer();
const other = await startIssuer();
afterAll(() => Promise.all([issuer.stop(), other.stop()]));

const clock = { ahead: 0 };
const days = (count: number) => count * 24 * 60 * 60_000;
const input = {
  publish: {
    issuers: [
      { kind: 'github' as const, issuer: issuer.url, audience: 'ci' },
      { issuer: other.url, audience: 'ci', claims: { repository: 'pipeline.slug' } },
    ],
  },
};
const registry: Registry = await startRegistry(input, { now: () => Date.now() + clock.ahead });
afterAll(() => registry.service.stop());
const { ok, as, tokens } = registry;

const wanted = { issuer: 'github', repository: 'octo/light', workflow: 'release.yml' };
let publishers = 0;

/** A new publisher of Ann that trusts CI jobs. */
async function createPublisher(...trusts: object[]): Promise<string> {
  const id = `trusting-${++publishers}`;
  await ok('ann', 'POST', '/publishers', { id, name: id });
  for (const trust of trusts.length > 0 ? trusts : [wanted])
    await ok('ann', 'POST', `/publishers/${id}/trusts`, trust);
  return id;
}

const signJob = (claims: object = {}) =>
  issuer.sign(createJobClaims({ aud: 'ci', ...claims }), { typ: 'JWT' });
const exchange = (publisher: string, token: string, nodes?: string[]) =>
  as('guest', 'POST', `/publishers/${publisher}/trusts/exchange`, { token, nodes });
const publish = (publisher: string, node: string, version: string, token: string) =>
  ask(`${registry.url}/publishers/${publisher}/nodes/${node}/versions`, {
    ...{ method: 'POST', token, json: publishBody(token, version) },
  });

describe('a trust', () => {
  it('turns the identity of a CI job into a token for 15 minutes, which publishes', async () => {
    const publisher = await createPublisher({ ...wanted, nodes: ['light'] });
    const before = Date.now();
    const { status, body } = await exchange(publisher, await signJob(), ['light']);
    expect(status).toBe(201);
    expect(Date.parse(body.expires_at) - before).toBeLessThanOrEqual(15 * 60_000 + clock.ahead + 60_000);
    expect(Date.parse(body.expires_at) - before).toBeGreaterThan(14 * 60_000);
    expect((await publish(publisher, 'light', '1.0.0', body.token)).status).toBe(201);
    expect((await publish(publisher, 'dark', '1.0.0', body.token)).body.error).toBe('node_not_allowed');
    const listed = await ok('ann', 'GET', `/publishers/${publisher}/tokens`);
    expect(listed).toMatchObject([{ name: 'CI job 4242 of octo/light', nodes: ['light'] }]);
    const { events } = await ok('ann', 'GET', `/publishers/${publisher}/audit`);
    expect(events.map(({ action }: Answered) => action)).toEqual(
      expect.arrayContaining(['trust.add', 'token.create']),
    );
    clock.ahead += 16 * 60_000;
    expect((await publish(publisher, 'light', '1.0.1', body.token)).status).toBe(401);
  });

  it('gives the version what the job is, which anyone may read', async () => {
    const publisher = await createPublisher();
    const { body } = await exchange(publisher, await signJob());
    await publish(publisher, 'shown', '1.0.0', body.token);
    const { provenance } = await ok('ann', 'GET', '/nodes/shown/versions/1.0.0');
    expect(provenance).toEqual({
      issuer: issuer.url,
      repository: 'octo/light',
      repository_id: '1001',
      ref: 'refs/tags/v1.0.0',
      commit: 'c0ffee'.padEnd(40, '0'),
      workflow: 'octo/light/.github/workflows/release.yml@refs/tags/v1.0.0',
      run: '4242',
    });
  });

  it('is chosen among several by the job and the node', async () => {
    const release = { ...wanted, nodes: ['light'] };
    const publisher = await createPublisher(release, { ...release, nodes: ['dark'] });
    const { body } = await exchange(publisher, await signJob(), ['dark']);
    expect(body.nodes).toEqual(['dark']);
    const { status, body: refused } = await exchange(publisher, await signJob(), ['light', 'dark']);
    expect([status, refused.details[0].path]).toEqual([403, 'nodes']);
  });

  it('of an issuer of any kind compares the claims that the operator names', async () => {
    const publisher = await createPublisher({
      ...{ issuer: other.url, repository: 'octo/light', claims: { 'step.key': 'release', trusted: 'true' } },
    });
    const claims = { jti: 'a', aud: 'ci', pipeline: { slug: 'octo/light' }, trusted: true };
    const refused = await exchange(publisher, await other.sign(claims));
    expect(refused.body.message).toContain('step.key must be release, and is missing');
    const { status } = await exchange(publisher, await other.sign({ ...claims, step: { key: 'release' } }));
    expect(status).toBe(201);
  });

  it('keeps the ids of repository and owner from its first use on', async () => {
    const publisher = await createPublisher();
    const list = () => ok('ann', 'GET', `/publishers/${publisher}/trusts`);
    expect((await list())[0].ids).toBeUndefined();
    await exchange(publisher, await signJob());
    expect((await list())[0].ids).toEqual({ repository_id: '1001', repository_owner_id: '77' });
    // Deleted, and registered by another.
    const taken = await exchange(
      publisher,
      await signJob({ repository_id: '2002', repository_owner_id: '88' }),
    );
    expect(taken.body.details).toEqual([
      { path: 'repository_id', message: 'must be 1001, as at the first use, not 2002' },
      { path: 'repository_owner_id', message: 'must be 77, as at the first use, not 88' },
    ]);
    const renamed = {
      repository: 'octo/lamp',
      workflow_ref: 'octo/lamp/.github/workflows/release.yml@refs/tags/v1',
    };
    const { body } = await exchange(publisher, await signJob(renamed));
    expect(body.details).toEqual([{ path: 'repository', message: 'must be octo/light, not octo/lamp' }]);
  });

  it('ends with the membership of who added it, and so does what it gave', async () => {
    const publisher = await createPublisher({ ...wanted, repository: 'octo/unused' });
    await registry.join('bob', publisher, 'owner');
    await ok('bob', 'POST', `/publishers/${publisher}/trusts`, wanted);
    const { body } = await exchange(publisher, await signJob());
    expect((await publish(publisher, 'of-bob', '1.0.0', body.token)).status).toBe(201);
    const { id } = await ok('bob', 'GET', '/users/me');
    await ok('ann', 'DELETE', `/publishers/${publisher}/members/${id}`);
    expect((await publish(publisher, 'of-bob', '1.0.1', body.token)).status).toBe(401);
    expect(await ok('ann', 'GET', `/publishers/${publisher}/trusts`)).toHaveLength(1);
    expect((await exchange(publisher, await signJob())).status).toBe(403);
  });

  it('that is removed takes back what it gave', async () => {
    const publisher = await createPublisher();
    const { body } = await exchange(publisher, await signJob());
    await ok('ann', 'DELETE', `/publishers/${publisher}/trusts/${body.trust_id}`);
    expect((await publish(publisher, 'removed', '1.0.0', body.token)).status).toBe(401);
    expect((await as('ann', 'DELETE', `/publishers/${publisher}/trusts/${body.trust_id}`)).status).toBe(404);
  });

  it('of a banned publisher gives nothing', async () => {
    const publisher = await createPublisher();
    await ok('admin', 'PUT', `/admin/publishers/${publisher}`, { status: 'PublisherStatusBanned' });
    const path = `/publishers/${publisher}/trusts/exchange`;
    const { body } = await as('ann', 'POST', path, { token: await signJob() });
    expect(body.error).toBe('banned');
    await ok('admin', 'PUT', `/admin/publishers/${publisher}`, { status: 'PublisherStatusActive' });
  });

  it.each([
    [
      { ...wanted, issuer: 'https://elsewhere.example.org' },
      'issuer must be an issuer that this service accepts',
    ],
    [{ issuer: 'github', repository: 'octo/light' }, 'workflow is required'],
    [{ ...wanted, repository: 'https://github.com/octo/light' }, 'must be a name such as octo/light-tools'],
    [{ ...wanted, workflow: '.github/workflows/release.yml' }, 'must be the name of a file'],
    [{ ...wanted, ref: 'refs/tags/*' }, 'must be exact'],
    [{ issuer: other.url, workflow: 'a', repository: 'b' }, 'has no claim for it'],
  ])('is refused if it could never match: %j', async (trust, message) => {
    const { status, body } = await as('ann', 'POST', '/publishers/acme/trusts', trust);
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('an identity token', () => {
  it('is exchanged once, also if two requests exchange it at once', async () => {
    const publisher = await createPublisher();
    const token = await signJob();
    const answers = await Promise.all([exchange(publisher, token), exchange(publisher, token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
    const { body } = await exchange(publisher, token);
    expect(body.details).toEqual([
      { path: 'jti', message: 'must be an id that is used once, not one that was exchanged before' },
    ]);
  });

  it('may be exchanged after a refusal that was put right', async () => {
    const publisher = await createPublisher({ ...wanted, environment: 'production' });
    const token = await signJob();
    expect((await exchange(publisher, token)).status).toBe(403);
    await ok('ann', 'POST', `/publishers/${publisher}/trusts`, wanted);
    expect((await exchange(publisher, token)).status).toBe(201);
  });

  it('is refused if the membership behind the trust ends while the keys of the issuer are fetched', async () => {
    const slow = await startIssuer();
    const settings = [{ kind: 'github' as const, issuer: slow.url, audience: 'ci' }];
    const own = await startRegistry({ publish: { issuers: settings } });
    await own.join('eve', 'acme', 'owner');
    await own.ok('eve', 'POST', '/publishers/acme/trusts', wanted);
    const { id } = await own.ok('eve', 'GET', '/users/me');
    let removal: Promise<unknown> | undefined;
    slow.instead = (request, response) => {
      if (request.url !== '/jwks' || removal) return false;
      removal = own.ok('ann', 'DELETE', `/publishers/acme/members/${id}`).then(async () => {
        const keys = await fetch(`${slow.url}/jwks`);
        response.writeHead(200, { 'content-type': 'application/json' }).end(await keys.text());
      });
      return true;
    };
    const token = await slow.sign(createJobClaims({ aud: 'ci' }));
    const { status, body } = await own.as('guest', 'POST', '/publishers/acme/trusts/exchange', { token });
    await removal;
    expect([status, body.message]).toEqual([
      403,
      'The identity token is not trusted by acme: repository must be of a CI job that acme trusts, not octo/light.',
    ]);
    expect(await own.ok('ann', 'GET', '/publishers/acme/tokens')).toHaveLength(1);
    await own.service.stop();
    await slow.stop();
  });
});

describe('a wrong identity token is refused in a sentence that names the claim', async () => {
  const outsider = await generateKeyPair('ES256', { extractable: true });
  const publisher = await createPublisher({
    ...wanted,
    environment: 'production',
    claims: { ref_type: 'tag' },
  });
  const right = { environment: 'production' };
  await exchange(publisher, await signJob(right));
  const used = await signJob(right);
  await exchange(publisher, used);
  const seconds = Math.floor((Date.now() + clock.ahead) / 1000);
  const fill = <Token extends SignJWT | UnsecuredJWT>(token: Token): Token => {
    token
      .setIssuer(issuer.url)
      .setAudience('ci')
      .setExpirationTime(seconds + 300)
      .setJti('x');
    return token;
  };
  const { kid } = JSON.parse(Buffer.from(used.split('.')[0] as string, 'base64url').toString());
  const sign = (header: { alg: string; kid: string }, key: Parameters<SignJWT['sign']>[0]) =>
    fill(new SignJWT(createJobClaims(right)))
      .setProtectedHeader(header)
      .sign(key);

  const wrong: Readonly<Record<string, string>> = {
    'token must be a signed JWT, not other text': 'no.token.atall',
    'iss must be': await signJob({ ...right, iss: 'https://evil.example.org' }),
    'aud must be ci, not https://other.example.org': await signJob({
      ...right,
      aud: 'https://other.example.org',
    }),
    'aud must be ci, not ci and npm': await signJob({ ...right, aud: ['ci', 'npm'] }),
    'exp must be a time in the future, not': await signJob({ ...right, exp: seconds - 120 }),
    'nbf must be a time in the past, not': await signJob({ ...right, nbf: seconds + 6000 }),
    'alg must be one of': fill(new UnsecuredJWT(createJobClaims(right))).encode(),
    'not HS256': await sign({ alg: 'HS256', kid }, Buffer.from('x'.repeat(32))),
    'kid must be a key of': await sign({ alg: 'ES256', kid: 'other' }, outsider.privateKey),
    'signature must be one made with a key of': await sign({ alg: 'ES256', kid }, outsider.privateKey),
    'jti must be an id that is used once, and is missing': await signJob({ ...right, jti: undefined }),
    'not one that was exchanged before. Request a new token from the issuer.': used,
    'repository must be': await signJob({ ...right, repository: 'evil/light', repository_id: '3' }),
    'workflow_ref must be release.yml, not ci.yml': await signJob({
      ...{ ...right, workflow_ref: 'octo/light/.github/workflows/ci.yml@refs/tags/v1' },
    }),
    'workflow_ref must be release.yml, not evil/x/.github/workflows/release.yml@refs/heads/m': await signJob({
      ...{ ...right, workflow_ref: 'evil/x/.github/workflows/release.yml@refs/heads/m' },
    }),
    'workflow_ref must be release.yml, not evil/octo/light/.github/workflows/release.yml@refs/heads/m':
      await signJob({
        ...{ ...right, workflow_ref: 'evil/octo/light/.github/workflows/release.yml@refs/heads/m' },
      }),
    'environment must be production, and is missing': await signJob({}),
    'ref_type must be tag, not branch': await signJob({ ...right, ref_type: 'branch' }),
    'repository_id must be 1001, as at the first use, not 9': await signJob({ ...right, repository_id: '9' }),
    'event_name must be an event other than pull_request_target and workflow_run, not pull_request_target':
      await signJob({ ...right, event_name: 'pull_request_target' }),
    'event_name must be an event other than pull_request_target and workflow_run, not workflow_run':
      await signJob({ ...right, event_name: 'workflow_run' }),
  };

  it.each(Object.entries(wrong))('%s', async (sentence, token) => {
    // Keys are fetched at most once per second.
    clock.ahead += 1_000;
    const { status, body } = await exchange(publisher, token);
    expect([status, body.error]).toEqual([403, 'identity_refused']);
    expect(body.message).toContain(sentence);
    expect(body.message).toContain(body.details[0].path);
  });

  it('to who has a token of another repository, without what the trust names', async () => {
    const { body } = await exchange(
      publisher,
      await signJob({ repository: 'evil/light', repository_id: '3' }),
    );
    expect(JSON.stringify(body)).not.toMatch(/octo|release\.yml|production/);
    // Who forges one of the right repository learns nothing, too.
    const forged = await sign({ alg: 'ES256', kid }, outsider.privateKey);
    const answer = await exchange(publisher, forged);
    expect(JSON.stringify(answer.body)).not.toMatch(/release\.yml|production/);
  });

  it('never makes the service fail, for any content', async () => {
    const odd = {
      exp: 1e300,
      nbf: -1e300,
      jti: 'j'.repeat(5000),
      repository: { a: 1 },
      run_id: ['x'],
      ref: null,
    };
    for (const [claim, value] of Object.entries({ ...odd, __proto__: 1, constructor: 'x', sub: '\ud800' })) {
      const { status } = await exchange(publisher, await signJob({ ...right, [claim]: value }));
      expect([claim, status]).toEqual([claim, expect.toSatisfy((code: number) => code < 500)]);
    }
  });
});

describe('publisher.trust.check', () => {
  it('compares claim by claim with the nearest trust, and uses nothing up', async () => {
    const publisher = await createPublisher(
      { ...wanted, repository: 'octo/dark' },
      { ...wanted, ref: 'refs/heads/main' },
    );
    const check = (who: 'ann' | 'guest', token: string) =>
      ok(who, 'POST', `/publishers/${publisher}/trusts/check`, { token });
    const token = await signJob();
    const answer = await check('guest', token);
    expect(answer.accepted).toBe(false);
    expect(answer.claims.filter(({ ok }: Answered) => !ok)).toEqual([
      { claim: 'ref', ok: false, wanted: 'refs/heads/main', got: 'refs/tags/v1.0.0' },
    ]);
    expect(answer.claims.map(({ claim }: Answered) => claim)).toEqual([
      ...['aud', 'exp', 'jti', 'repository', 'workflow_ref', 'ref'],
      ...['repository_id', 'repository_owner_id', 'event_name'],
    ]);
    const right = await signJob({ ref: 'refs/heads/main' });
    expect((await check('guest', right)).accepted).toBe(true);
    expect((await check('guest', right)).accepted).toBe(true);
    expect((await exchange(publisher, right)).status).toBe(201);
  });

  it('shows members what a trust names, even for an expired token of another repository', async () => {
    const publisher = await createPublisher();
    const token = await signJob({ repository: 'octo/typo', exp: 1 });
    const path = `/publishers/${publisher}/trusts/check`;
    const named = async (who: 'ann' | 'eve') =>
      (await ok(who, 'POST', path, { token })).claims.find(({ claim }: Answered) => claim === 'repository');
    expect(await named('ann')).toEqual({
      claim: 'repository',
      ok: false,
      wanted: 'octo/light',
      got: 'octo/typo',
    });
    expect((await named('eve')).wanted).toBe(`of a CI job that ${publisher} trusts`);
  });
});

it('refuses a configuration in which CI jobs could sign in', async () => {
  const issuers = [{ issuer: issuer.url }];
  const publish = { issuers: [{ kind: 'github' as const, issuer: issuer.url }] };
  await expect(startRegistry({ issuers, publish })).rejects.toThrow('publish.issuers.0.audience must differ');
  await expect(startRegistry({ publish: { issuers: [{}] } })).rejects.toThrow('issuer is required');
  expect(tokens.ann).toBeDefined();
});

// Last, because it moves the clock by a month.
describe('an unused trust', () => {
  it('that names a node that does not exist ends after 30 days without use, and not if it was used', async () => {
    const [unused, used] = [
      await createPublisher({ ...wanted, nodes: ['future-one'] }),
      await createPublisher({ ...wanted, nodes: ['future-two'] }),
    ];
    expect((await exchange(used, await signJob())).status).toBe(201);
    clock.ahead += days(31);
    const inAMonth = { exp: Math.floor((Date.now() + clock.ahead) / 1000) + 300 };
    const { status, body } = await exchange(unused, await signJob(inAMonth));
    expect([status, body.details[0].path]).toEqual([403, 'trust']);
    expect(body.message).toContain('trust must be used within 30 days of its addition');
    expect((await exchange(used, await signJob(inAMonth))).status).toBe(201);
    clock.ahead -= days(31);
  });
});
