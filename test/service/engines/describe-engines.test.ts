import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { homeForTest, regen, startRegen } from '../../support/cli.js';
import { startComfyUi } from '../../support/comfyui.js';
import { pixel } from '../../support/generation.js';
import { folderForTest, serviceForTest } from '../../support/service.js';

/** Writes a configuration, with workflows and recordings beside it. */
function writeConfiguration(text: string): string {
  const folder = folderForTest();
  cpSync('examples/comfyui', join(folder, 'workflows'), { recursive: true });
  mkdirSync(join(folder, 'cassettes'));
  for (const name of ['a', 'b']) writeFileSync(join(folder, 'cassettes', `${name}.json`), '{}');
  const path = join(folder, 'regen.toml');
  writeFileSync(path, `data = "data"\nport = 0\n${text}`);
  return path;
}

const comfyUi = (url = 'http://127.0.0.1:9') =>
  `engine = "comfyui"\nbaseUrl = "${url}"\nworkflows = "./workflows"\n`;
const vendor = (name: string) => `engine = "upstream"\nvendor = "${name}"\nkey = { env = "KEY" }\n`;

it.each([
  ['', ['Images and videos: previews made on this machine']],
  [
    `[generation.image]\n${comfyUi()}[generation.video]\n${vendor('vidu')}`,
    [
      'Images: ComfyUI at http://127.0.0.1:9 (4 workflows); nothing listens at its address now',
      'Videos: vidu at https://api.vidu.com/ent/v2',
    ],
  ],
  [
    `[generation]\nrecord = "cassettes"\n[generation.operation."image.upscaler"]\n${vendor('magnific')}`,
    [
      'Images and videos: previews made on this machine',
      'image.upscaler: magnific at https://api.magnific.com',
      expect.stringMatching(/^Results: recorded in .*cassettes \(2\)$/),
    ],
  ],
  [
    '[generation]\nreplay = "cassettes"\n',
    [expect.stringMatching(/^Images and videos: recordings in .*cassettes \(2\)$/)],
  ],
])('serve --check says what makes images and videos: %j', async (text, lines) => {
  const argv = ['serve', '--check', '--config', writeConfiguration(text)];
  const { exit, stdout, stderr } = await regen(argv, { env: { KEY: 'secret' } });
  expect([exit, stdout, stderr.trim().split('\n')]).toEqual([
    0,
    '',
    ['The configuration is valid.', ...lines],
  ]);
});

it('serve --check says of a ComfyUI that answers only where it is', async () => {
  const { url } = await startComfyUi();
  const config = writeConfiguration(`[generation.operation."image.upscaler"]\n${comfyUi(url)}`);
  const { stderr } = await regen(['serve', '--check', '--config', config]);
  expect(stderr).toContain(`image.upscaler: ComfyUI at ${url} (1 workflow)\n`);
});

it('serve --detach and serve status say what makes images and videos, as serve does', async () => {
  const config = writeConfiguration('[generation]\nreplay = "cassettes"\n');
  const home = homeForTest();
  onTestFinished(async () => void (await startRegen(['serve', 'stop', '--config', config], { home }).ended));
  const { stderr } = await startRegen(['serve', '--detach', '--config', config], { home }).ended;
  const made = `recordings in ${join(config, '../cassettes')} (2)`;
  expect(stderr).toBe(`Images and videos: ${made}\n`);
  const status = await regen(['serve', 'status', '--config', config, '--json'], { home });
  expect(JSON.parse(status.stdout)).toMatchObject({ engines: { 'images and videos': made }, previews: [] });
  const shown = await regen(['serve', 'status', '--config', config], { home, terminal: true, columns: 300 });
  expect(shown.stdout).toMatch(/^Engine of images and videos {2}recordings in /m);
  expect(shown.stdout).not.toContain('Previews');
});

it.each([
  [{}, true],
  [{ operation: { 'image.skinEnhancer': { engine: 'local' } } }, true],
  [{ replay: '/tmp' }, false],
] as const)(
  'a command says that a service of its own only previews, with %j: %j',
  async (generation, isSaid) => {
    const { url, ownerToken } = await serviceForTest({ generation });
    const cwd = folderForTest();
    writeFileSync(join(cwd, 'in.png'), Buffer.from(pixel, 'base64'));
    const env = { REGEN_BASE_URL: url, REGEN_TOKEN: ownerToken };
    const { stderr } = await regen(['image', 'upscaler', 'in.png', '--no-wait'], { cwd, env });
    expect(stderr.includes('This is a preview, not made by a vendor.'), stderr).toBe(isSaid);
  },
);
