import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { homeForTest, homeWithService, regen, type Surroundings, startRegen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

async function createSurroundings(): Promise<Surroundings & { url: string; home: string }> {
  const service = await serviceForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  return { home: homeForTest(), env, url: service.url };
}

describe('regen open', () => {
  test('prints a link that signs in once, and leads to the page of what was named', async () => {
    const surroundings = await createSurroundings();
    const opened = async (...argv: string[]) => {
      const { stdout, stderr, exit } = await regen(['open', ...argv, '--print'], surroundings);
      expect(exit, stderr).toBe(0);
      const answer = await fetch(stdout.trim());
      expect((await fetch(stdout.trim())).status).toBe(403);
      return answer.headers.get('refresh');
    };
    expect(await opened()).toBe('0; url=/');
    expect(await opened('hello-nodes')).toBe('0; url=/web/nodes/hello-nodes');
    expect(await opened('hello-nodes@1.0.0')).toBe('0; url=/web/nodes/hello-nodes/versions/1.0.0');
    expect(await opened('--publisher', 'acme')).toBe('0; url=/web/publishers/acme');
    expect(await opened('--tasks')).toBe('0; url=/web/tasks');
  });

  test('prints JSON with --json, and says what a link does where there is no browser', async () => {
    const surroundings = await createSurroundings();
    const json = await regen(['open', 'hello-nodes', '--json'], surroundings);
    expect(JSON.parse(json.stdout)).toEqual({ url: expect.stringContaining('/web/sign-in?code=') });
    const filtered = await regen(['open', '--print', '--jq', 'keys[0]'], surroundings);
    expect(filtered.stdout).toBe('url\n');
    const bare = await regen(['open', 'hello-nodes'], surroundings);
    expect([bare.stdout, bare.stderr]).toEqual([
      expect.stringMatching(/^http.*code=.*\n$/),
      'No browser was found. This link signs you in once, within a minute:\n',
    ]);
  });

  test('gives the browser a private file, so that the link is not among its arguments', async () => {
    const surroundings = await createSurroundings();
    const browser = join(surroundings.home, 'browser');
    const seen = join(surroundings.home, 'seen');
    mkdirSync(surroundings.home, { recursive: true });
    writeFileSync(browser, `#!/bin/sh\necho "$@" > ${seen}.part && mv ${seen}.part ${seen}\n`, {
      mode: 0o755,
    });
    const env = { ...surroundings.env, BROWSER: browser };
    const { exit, stdout, stderr } = await regen(['open', '--tasks'], { ...surroundings, env });
    expect([exit, stdout], stderr).toEqual([0, '']);
    await waitFor(() => expect(existsSync(seen)).toBe(true));
    const file = readFileSync(seen, 'utf8').trim();
    expect(file).not.toContain('code=');
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain(
      `url=${surroundings.url}/web/sign-in?code&#61;`.replace('&#61;', '='),
    );
  });

  test('leads to a page of the embedded service whose commands find that service themselves', async () => {
    const surroundings = { home: homeWithService() };
    await startRegen(['serve', '--port', '0', '--detach'], surroundings).ended;
    await regen(['publisher', 'create', 'acme', '--name', 'Acme'], surroundings);
    const published = await regen(['version', 'publish', packForTest()], surroundings);
    expect(published.exit, published.stderr).toBe(0);
    const { stdout } = await regen(['open', 'pack', '--print'], surroundings);
    const page = await fetch(new URL('/web/nodes/pack', stdout));
    expect(await page.text()).toContain('regen node install pack --into ComfyUI/custom_nodes<');
  });

  test('refuses two targets, before anything is sent', async () => {
    const surroundings = await createSurroundings();
    const { exit, stderr } = await regen(['open', 'a', '--tasks'], surroundings);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('only one of them')]);
  });

  test('prints the plain address for who is not signed in', async () => {
    const { url, home } = await createSurroundings();
    const { stdout } = await regen(['open', 'hello-nodes', '--print'], {
      home,
      env: { REGEN_BASE_URL: url },
    });
    expect(stdout.trim()).toBe(`${url}/web/nodes/hello-nodes`);
  });
});
