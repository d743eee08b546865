import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { html, untrusted } from '../../../src/service/pages/html.js';
import { registryForFile, startRegistry } from '../../support/registry.js';
import { ask, serviceForTest } from '../../support/service.js';

const registry = registryForFile();

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '</title></style></textarea><svg onload=alert(1)>',
  '\u202egnp.exe\u2066',
  '&lt;script&gt;&#60;',
  ['$', '{7*7}{{7*7}}'].join(''),
  'x'.repeat(900),
];

/** Reads a page as a browser without a session does. */
async function readPage(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(registry().url + path, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

/** Tags that could run or load something, and links to other than web addresses. */
function listDangers(text: string): string[] {
  const own = '<link rel="icon" href="data:,">';
  const tags = text.replace(own, '').match(/<\/?[a-z][^>]*>/gi) ?? [];
  return tags.filter((tag) => {
    const withoutValues = tag.replace(/"[^"]*"/g, '""');
    const canRun = /^<(?:script|iframe|object|embed|base|img)|\son[a-z]+\s*=/i.test(withoutValues);
    return canRun || /(?:href|src|action)="(?!\/|https?:\/\/|\?|#)/i.test(tag);
  });
}

describe('a page', () => {
  beforeAll(async () => {
    const { active, publish, change } = registry();
    await active('pretty', '1.0.0');
    await active('pretty', '1.1.0');
    const definition = (input_types: object, return_types: string[]) =>
      JSON.stringify({
        input_types: JSON.stringify(input_types),
        return_types: JSON.stringify(return_types),
        return_names: JSON.stringify(return_types),
        category: 'test',
      });
    const old = definition(
      { required: { image: ['IMAGE'], mode: [['soft', 'hard'], { default: 'soft' }] } },
      ['IMAGE'],
    );
    const now = definition({ required: { image: ['IMAGE'], mode: [['soft'], { default: 'soft' }] } }, [
      'IMAGE',
      'MASK',
    ]);
    await storeDefinition('1.0.0', old);
    await storeDefinition('1.1.0', now);
    await publish('pretty', '2.0.0');
    async function storeDefinition(version: string, text: string) {
      await change(async (tx) => {
        const { id } = await tx
          .selectFrom('versions')
          .select('id')
          .where('node_id', '=', 'pretty')
          .where('version', '=', version)
          .executeTakeFirstOrThrow();
        await tx
          .insertInto('host_nodes')
          .values({
            version_id: id,
            node_id: 'pretty',
            name: 'Soften',
            definition: text,
            policy: 'HostNodePolicyActive',
            listed: 1,
          } as never)
          .execute();
      });
    }
  });

  it.each([
    ['LICENSE', 'see the file <bdi>LICENSE</bdi> in the archive'],
    ['{"file": "COPY"}', 'see the file <bdi>COPY</bdi> in the archive'],
    ['{"text": "MIT"}', '<bdi>MIT</bdi>'],
    ['{"file": 7}', '<bdi>{&quot;file&quot;: 7}</bdi>'],
    ['docs/COPYING.txt', 'see the file <bdi>docs/COPYING.txt</bdi> in the archive'],
    ['MIT', '<bdi>MIT</bdi>'],
    ['LicenseRef-Acme', '<bdi>LicenseRef-Acme</bdi>'],
  ])('shows the license %s as %s', async (license, shown) => {
    await registry().ok('ann', 'PUT', '/publishers/acme/nodes/pretty', { license });
    const { text } = await readPage('/web/nodes/pretty');
    expect(text).toContain(`<dt>License</dt><dd>${shown}</dd>`);
  });

  it('of a node leads from the front page to its versions and what changed', async () => {
    const front = await readPage('/?search=pretty');
    expect(front.text).toContain('<a href="/web/nodes/pretty">');
    const node = await readPage('/web/nodes/pretty');
    expect(node.status).toBe(200);
    expect(node.text).toContain('regen node install pretty');
    expect(node.text).toContain('/web/nodes/pretty/versions/1.1.0/changes?since=1.0.0');
    expect(node.text).not.toContain('2.0.0');
    const changes = await readPage('/web/nodes/pretty/versions/1.1.0/changes?since=1.0.0');
    expect(changes.text).toContain('breaks workflows');
    expect(changes.text).toContain('mode: hard');
    const version = await readPage('/web/nodes/pretty/versions/1.1.0');
    expect(version.text).toMatch(/<svg class="node"[\s\S]*Soften[\s\S]*image[\s\S]*MASK/);
    const publisher = await readPage('/web/publishers/acme');
    expect(publisher.text).toContain('<a href="/web/nodes/pretty">');
  });

  it('of changes is an Atom feed, of all nodes and of one', async () => {
    const all = await readPage('/web/changes.atom');
    expect(all.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    expect(all.text).toMatch(
      /^<\?xml version="1.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www.w3.org\/2005\/Atom">/,
    );
    const titles = [...all.text.matchAll(/<entry>.*<title>(.*?)<\/title>/g)].map(([, title]) => title);
    expect(titles.slice(0, 2)).toEqual(['pretty 1.1.0 is active', 'pretty 1.0.0 is active']);
    expect(all.text).toContain(`href="${registry().url}/web/nodes/pretty/versions/1.1.0"`);
    const one = await readPage('/web/nodes/Pretty/changes.atom');
    expect(one.text).toContain('<title>pretty was created</title>');
    const { ok } = registry();
    const { name } = await ok('guest', 'GET', '/nodes/pretty');
    onTestFinished(() => ok('ann', 'PUT', '/publishers/acme/nodes/pretty', { name }));
    await ok('ann', 'PUT', '/publishers/acme/nodes/pretty', { name: 'a\ufffeb\uffff' });
    const strange = await readPage('/web/nodes/pretty/changes.atom');
    expect(strange.text).toContain('<title>a\ufffdb\ufffd</title>');
    const node = await readPage('/web/nodes/pretty');
    expect(node.text).toContain(
      'type="application/atom+xml" title="Changes" href="/web/nodes/pretty/changes.atom"',
    );
    expect((await readPage('/web/nodes/none/changes.atom')).status).toBe(404);
  });

  it('says why a version is deprecated, and how to install it all the same', async () => {
    const { ok } = registry();
    const path = '/publishers/acme/nodes/pretty/versions/1.0.0';
    const deprecate = (deprecated: boolean, deprecation_message: string) =>
      ok('ann', 'PUT', path, { deprecated, deprecation_message });
    onTestFinished(() => deprecate(false, ''));
    await deprecate(true, 'use <1.1.0>');
    const word = 'deprecated</span> <bdi>use &lt;1.1.0&gt;</bdi>';
    expect((await readPage('/web/nodes/pretty')).text).toContain(word);
    const version = await readPage('/web/nodes/pretty/versions/1.0.0');
    expect(version.text).toContain(word);
    expect(version.text).toContain('regen node install pretty@1.0.0 --allow deprecated --into ');
    expect((await readPage('/web/nodes/pretty/versions/1.1.0')).text).not.toContain('--allow');
  });

  it('runs and embeds nothing, and is kept by caches', async () => {
    for (const path of ['/', '/web/nodes/pretty', '/badge/pretty.svg']) {
      const { headers } = await readPage(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).not.toContain('script');
      expect(headers.get('cache-control')).toBe('public, max-age=30');
      expect(headers.get('set-cookie')).toBeNull();
      const again = await readPage(path, { 'if-none-match': headers.get('etag') as string });
      expect(again.status).toBe(304);
      expect(again.headers.get('content-security-policy')).toBe(headers.get('content-security-policy'));
    }
  });

  it('is 30 kB at most, with one style sheet', async () => {
    for (const path of ['/', '/web/nodes/pretty', '/web/nodes/pretty/versions/1.1.0']) {
      const { text } = await readPage(path);
      expect(Buffer.byteLength(text)).toBeLessThan(30_000);
      expect(text.match(/<link rel="stylesheet"|<script|<img/g)).toEqual(['<link rel="stylesheet"']);
    }
    const style = await readPage('/web/style.css');
    expect(style.headers.get('content-type')).toContain('text/css');
  });

  it('refuses as a page, in a sentence', async () => {
    const missing = await readPage('/web/nodes/not-there');
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(missing.text).toContain('There is no node not-there.');
    const unknown = await readPage('/web/nodes/pretty?tab=readme');
    expect(unknown.status).toBe(400);
    const draft = await readPage('/web/nodes/pretty/versions/2.0.0');
    expect(draft.status).toBe(404);
    expect(draft.text).toContain('Signed in, its publisher may see more.');
    expect((await readPage('/web/nothing/at/all')).text).toContain('<h1>Not found</h1>');
  });

  it('is redirected to the registered spelling of its node', async () => {
    const answer = await fetch(`${registry().url}/web/nodes/PRETTY/versions/1.0.0?page=1`, {
      redirect: 'manual',
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([
      302,
      '/web/nodes/pretty/versions/1.0.0?page=1',
    ]);
  });

  it.each(HOSTILE)('shows %j as text wherever people can write it', async (text) => {
    const { publish, change, ok } = registry();
    const nodeId = `hostile-${randomUUID().slice(0, 8)}`;
    await publish(nodeId, '1.0.0', {
      node: {
        name: text.slice(0, 100),
        description: text,
        author: text,
        license: text,
        tags: [text],
        category: text,
      },
      node_version: {
        changelog: text,
        dependencies: [text.slice(0, 200)],
        supported_os: [text.slice(0, 100)],
      },
    });
    await ok('ann', 'PUT', '/publishers/acme', { name: text.slice(0, 100), description: text });
    await change((tx) =>
      tx
        .updateTable('versions')
        .set({ status: 'NodeVersionStatusActive', status_reason: text })
        .where('node_id', '=', nodeId)
        .execute(),
    );
    const { id } = await change((tx) =>
      tx.selectFrom('versions').select('id').where('node_id', '=', nodeId).executeTakeFirstOrThrow(),
    );
    const definition = JSON.stringify({
      description: text,
      input_types: JSON.stringify({ required: { [text]: [text, { default: text }], other: [[text], {}] } }),
      return_types: JSON.stringify([text]),
      return_names: JSON.stringify([text]),
    });
    await change((tx) =>
      tx
        .insertInto('host_nodes')
        .values({
          version_id: id,
          node_id: nodeId,
          name: text.slice(0, 200),
          definition,
          policy: 'HostNodePolicyActive',
          listed: 1,
        } as never)
        .execute(),
    );
    const readme = `${text}\n\n# ${text}\n\n[${text}](${text}) ![${text}](${text}) <${text}> \`${text}\`\n\n    ${text}\n`;
    await change((tx) => tx.insertInto('readmes').values({ version_id: id, text: readme }).execute());
    const paths = [
      `/?search=${encodeURIComponent(text.slice(0, 200))}`,
      `/web/nodes/${nodeId}`,
      `/web/nodes/${nodeId}/versions/1.0.0`,
      '/web/publishers/acme',
      `/badge/${nodeId}.svg`,
      `/web/nodes/${encodeURIComponent(text)}`,
      `/web/nodes/${nodeId}/versions/1.0.0/changes?since=${encodeURIComponent(text.slice(0, 200))}`,
    ];
    for (const path of paths) {
      const page = await readPage(path);
      expect(page.status, path).toBeLessThan(500);
      expect(listDangers(page.text), path).toEqual([]);
      expect(page.text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    }
  });
});

describe('a service whose reads need a sign-in', () => {
  it('shows its pages only to who followed a link, which works once', async () => {
    const { url, ownerToken } = await serviceForTest({ registry: { read: 'authenticated' } });
    const closed = await fetch(url);
    expect([closed.status, await closed.text()]).toEqual([401, expect.stringContaining('regen open')]);
    const link = await ask(`${url}/users/me/page-link`, {
      method: 'POST',
      token: ownerToken,
      json: { path: '/' },
    });
    const opened = await fetch(link.body.url);
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] as string;
    const open = await fetch(url, { headers: { cookie } });
    expect([open.status, open.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect((await fetch(link.body.url)).status).toBe(403);
    expect((await fetch(url, { headers: { cookie: `${cookie}x` } })).status).toBe(401);
    expect((await fetch(`${url}/nodes`, { headers: { cookie } })).status).toBe(401);
  });

  it('refuses links to other places than its pages', async () => {
    const { url, ownerToken } = await serviceForTest();
    for (const path of [
      '//evil.example',
      'https://evil.example',
      '/\\\\evil.example',
      '/nodes',
      '/web/sign-in?code=x',
      '/web/a b',
    ]) {
      const json = { path };
      const answer = await ask(`${url}/users/me/page-link`, { method: 'POST', token: ownerToken, json });
      expect(answer.status, path).toBe(400);
    }
  });
});

describe('a service with a path in its public address', () => {
  it('links to pages below that path', async () => {
    const { localUrl } = await serviceForTest({ publicUrl: 'https://team.example/regen', trustedProxies: 1 });
    const text = await (await fetch(localUrl, { headers: { host: 'team.example' } })).text();
    expect(text).toContain('href="/regen/web/style.css"');
    expect(text).toContain('action="/regen/"');
    expect(text).not.toMatch(/ (?:href|src|action)="\/(?!regen\/)/);
  });
});

describe('the command that installs a node', () => {
  it('names the service, also on the machine of the reader', async () => {
    await registry().active('light', '1.0.0');
    const command = `regen node install light --into ComfyUI/custom_nodes --base-url ${registry().url}<`;
    expect((await readPage('/web/nodes/light')).text).toContain(command);
    const { text } = await readPage('/web/nodes/light/versions/1.0.0');
    expect(text).toContain(command.replace('light', 'light@1.0.0'));
    expect(text).toContain(`regen version verify light 1.0.0 --base-url ${registry().url}<`);
  });

  it('is only that of regen, which finds the embedded service itself', async () => {
    const { service, url, active } = await startRegistry({ naming: 'comfy' }, { isEmbedded: true });
    onTestFinished(() => service.stop());
    await active('light', '1.0.0');
    const text = await (await fetch(`${url}/web/nodes/light`)).text();
    expect(text).not.toContain('registry-install');
    expect(text).toContain('regen node install light --into ComfyUI/custom_nodes<');
    expect(text).toContain('comfy-cli and ComfyUI-Manager ask the public registry until');
  });
});

describe('markup', () => {
  it('escapes texts and numbers, keeps markup and leaves out what is absent', () => {
    const inner = html`<b>${'<i>'}</b>`;
    expect(html`<p title="${'"'}">${inner}${undefined}${false}${[1, inner]}</p>`.text).toBe(
      '<p title="&quot;"><b>&lt;i&gt;</b>1<b>&lt;i&gt;</b></p>',
    );
  });

  it('cuts a long text between letters', () => {
    expect(untrusted('👍'.repeat(20), 10)?.text).toBe(`<bdi>${'👍'.repeat(10)}…</bdi>`);
  });
});
