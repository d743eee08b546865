import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { browserForFile, browserPath } from '../../support/browser.js';
import { registryForFile } from '../../support/registry.js';
import { ask, publisherForTest, publishFiles, serviceForTest } from '../../support/service.js';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe-core finds on a page. It is a script, which the policy of the page would refuse. */
async function findBarriers(page: Page): Promise<string[]> {
  const { readFileSync } = await import('node:fs');
  await page.evaluate(readFileSync(axe, 'utf8'));
  const results = (await page.evaluate('axe.run()')) as AxeResults;
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

describe.skipIf(!browserPath)('in a browser, the pages', () => {
  const registry = registryForFile();
  const open = browserForFile();

  beforeAll(async () => {
    const { active } = registry();
    await active('walk', '1.0.0');
    await active('walk', '1.1.0');
    await active('walk', '2.0.0', 'NodeVersionStatusFlagged');
  });

  it('lead from the front page to a version and what changed, without a complaint of the browser', async () => {
    const { page, complaints } = await open();
    await page.goto(registry().url);
    await page.getByRole('searchbox').fill('walk');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('a[href="/web/nodes/walk"]').click();
    await page.getByRole('link', { name: 'since 1.0.0' }).click();
    await page.getByRole('heading', { name: 'walk 1.0.0 to 1.1.0' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each([
    ['a phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
    ['a wide screen', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ] as const)('have no barrier for people and no sideways scrolling on %s', async (_, options) => {
    const { page } = await open(options);
    for (const path of [
      '/',
      '/web/nodes/walk',
      '/web/nodes/walk/versions/1.0.0',
      '/web/publishers/acme',
      '/web/none',
    ]) {
      await page.goto(registry().url + path);
      expect(await findBarriers(page), path).toEqual([]);
      expect(
        await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
        path,
      ).toBeLessThanOrEqual(0);
    }
  });

  it('lead from the front page to the reason of a verdict in three clicks, with its file, its line and the README', async () => {
    const service = await serviceForTest();
    const publisher = await publisherForTest(service);
    const publish = async (version: string, source: string, status: string) => {
      const readme =
        '# What it does\n\n<b onclick="x()">Bold</b> [docs](https://docs.example) and [more](docs/more.md)';
      const files = { '__init__.py': source, 'README.md': readme };
      expect((await publishFiles(publisher, version, files)).status).toBe(status);
    };
    await publish('1.0.0', 'NODE_CLASS_MAPPINGS = {}\n', 'NodeVersionStatusActive');
    const hidden = 'import base64\nNODE_CLASS_MAPPINGS = {}\nexec(base64.b64decode("cHJpbnQoMSk="))\n';
    await publish('2.0.0', hidden, 'NodeVersionStatusFlagged');
    const { page, complaints } = await open();
    const json = { path: '/' };
    const link = await ask(`${publisher.url}/users/me/page-link`, {
      method: 'POST',
      token: publisher.ownerToken,
      json,
    });
    await page.goto(link.body.url);
    await page.getByRole('link', { name: 'Pack', exact: true }).click();
    await page.getByRole('link', { name: '2.0.0', exact: true }).click();
    await page.getByRole('heading', { name: 'Verdict' }).waitFor();
    const finding = page.getByRole('region', { name: 'Findings' }).getByRole('row').last();
    expect(await finding.textContent()).toMatch(/^__init__\.py:3Runs code that is decoded first/);
    const readme = page.getByRole('region', { name: 'README' });
    expect(await readme.getByRole('heading', { name: 'What it does', level: 3 }).count()).toBe(1);
    expect(await readme.textContent()).toContain('<b onclick="x()">Bold</b>');
    expect(await readme.getByRole('link').allTextContents()).toEqual(['docs']);
    expect(await findBarriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.goto(`${publisher.url}/web/nodes/pack/versions/1.0.0`);
    expect(await page.getByText('regen version verify pack 1.0.0').count()).toBe(1);
    expect(await findBarriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('show a member the reason of a verdict after a sign-in with a link, which works once', async () => {
    const { ok, url, as } = registry();
    const { page } = await open();
    await page.goto(`${url}/web/nodes/walk/versions/2.0.0`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    const link = await ok('ann', 'POST', '/users/me/page-link', { path: '/web/nodes/walk' });
    await page.goto(link.url);
    await page.getByRole('link', { name: '2.0.0', exact: true }).click();
    await page.getByText('flagged').first().waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    const stranger = await open();
    await stranger.page.goto(link.url);
    expect(await stranger.page.textContent('main')).toContain('was used or has expired');
    expect(
      (await as('guest', 'GET', '/users/tasks', undefined, { cookie: `${cookie?.name}=${cookie?.value}` }))
        .status,
    ).toBe(401);
  });
});
