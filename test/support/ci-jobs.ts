import { randomUUID } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { onTestFinished } from 'vitest';
import type { TestIssuer } from './issuer.js';
import { listenOn } from './listen.js';

/** The claims of a job of GitHub Actions that releases octo/light. */
export function createJobClaims(claims: JWTPayload = {}): JWTPayload {
  return {
    jti: randomUUID(),
    sub: 'repo:octo/light:ref:refs/tags/v1.0.0',
    repository: 'octo/light',
    repository_owner: 'octo',
    repository_id: '1001',
    repository_owner_id: '77',
    workflow: 'Release',
    workflow_ref: 'octo/light/.github/workflows/release.yml@refs/tags/v1.0.0',
    job_workflow_ref: 'octo/light/.github/workflows/release.yml@refs/tags/v1.0.0',
    ref: 'refs/tags/v1.0.0',
    ref_type: 'tag',
    sha: 'c0ffee'.padEnd(40, '0'),
    event_name: 'push',
    run_id: '4242',
    run_attempt: '1',
    runner_environment: 'github-hosted',
    ...claims,
  };
}

/** The runner of GitHub Actions, as a job sees it. */
export interface TestRunner {
  /** What the environment of a job has with the permission `id-token: write`. */
  readonly env: Readonly<Record<string, string>>;
  /** The audiences that tokens were asked for. */
  readonly audiences: string[];
  /** Claims other than those of `createJobClaims`. */
  claims: JWTPayload;
}

/** A strict stand-in of the endpoint of the runner that gives a job its identity tokens. */
export async function runnerForTest(issuer: TestIssuer): Promise<TestRunner> {
  const secret = randomUUID();
  const audiences: string[] = [];
  const path = `/pipelines/${randomUUID()}/_apis/distributedtask/hubs/Actions/plans/1/jobs/2/idtoken`;
  const server = await listenOn(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url as string, 'http://runner');
    const isAllowed = request.headers.authorization === `Bearer ${secret}`;
    if (pathname !== path || searchParams.get('api-version') !== '2.0' || request.method !== 'GET')
      return void response.writeHead(404).end();
    if (!isAllowed) return void response.writeHead(401).end();
    const aud = searchParams.get('audience') ?? 'https://github.com/octo';
    audiences.push(aud);
    const value = await issuer.sign({ ...createJobClaims(runner.claims), aud }, { typ: 'JWT' });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ count: 1, value }));
  });
  onTestFinished(server.close);
  const env = {
    GITHUB_ACTIONS: 'true',
    CI: 'true',
    ACTIONS_ID_TOKEN_REQUEST_URL: `${server.url}${path}?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret,
  };
  const runner: TestRunner = { env, audiences, claims: {} };
  return runner;
}
