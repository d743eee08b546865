import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listTaskOperations } from '../../../src/contract/index.js';
import { loadWorkflows } from '../../../src/service/configuration/workflows.js';
import { regen } from '../../support/cli.js';
import { smallestGraph, writeWorkflows } from '../../support/comfyui-service.js';
import { folderForTest } from '../../support/service.js';

const url = 'http://127.0.0.1:8188';

/** What `serve --check` says about settings, in a folder with workflows. */
async function checkSettings(workflows: Readonly<Record<string, object>>, text?: string) {
  const folder = writeWorkflows(workflows);
  const config = join(folder, '..', 'regen.toml');
  writeFileSync(
    config,
    text ?? `[generation.image]\nengine = "comfyui"\nbaseUrl = "${url}"\nworkflows = "./workflows"\n`,
  );
  const { exit, stderr } = await regen(['serve', '--check', '--config', config], { cwd: folderForTest() });
  return { exit, stderr };
}

const upscaler = (inputs: object) => ({
  'image.upscaler': {
    '1': smallestGraph['1'],
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], ...inputs } },
  },
});

describe('serve --check of workflows', () => {
  it('takes those beside the configuration, from any folder', async () => {
    const { exit, stderr } = await checkSettings({ 'image.relight': smallestGraph });
    expect(exit, stderr).toBe(0);
  });

  it.each([
    [
      'an unknown field',
      upscaler({ a: '{{scale_facter}}' }),
      'workflows/image.upscaler.json, node 2, input a has {{scale_facter}}, which is not a field of this operation (did you mean scale_factor?)',
    ],
    [
      'a field of another operation',
      upscaler({ a: '{{voice_id}}' }),
      'has {{voice_id}}, which is not a field of this operation (they are image, ',
    ],
    [
      'a default of another type',
      upscaler({ a: '{{scale_factor=big}}' }),
      'has {{scale_factor=big}}, whose default is not a value of scale_factor',
    ],
    [
      'a default that is too large',
      upscaler({ a: '{{scale_factor=17}}' }),
      'whose default is not a value of scale_factor',
    ],
    [
      'a default that is no choice',
      upscaler({ a: '{{flavor=nice}}' }),
      'whose default is not a value of flavor',
    ],
    ['a file with a default', upscaler({ a: '{{image=a.png}}' }), 'which is a file and has no default'],
    ['a text that is divided', upscaler({ a: '{{flavor/2}}' }), 'has {{flavor/2}}, which cannot be divided'],
    ['a division by zero', upscaler({ a: '{{sharpen/0}}' }), 'has {{sharpen/0}}, which cannot be divided'],
    [
      'braces that are not closed',
      upscaler({ a: ['{{prompt'] }),
      'image.upscaler.json, node 2, input a has {{prompt, which is not a placeholder; write it as {{name}}, {{name/100}} or',
    ],
    [
      'spaces in braces',
      upscaler({ a: '{{image}} {{ seed }}' }),
      'node 2, input a has {{ seed }}, which is not a placeholder; write it as {{name}}, {{name/100}} or {{name=2}}, without',
    ],
    [
      'another sum than a division',
      upscaler({ a: '{{scale_factor*100}}' }),
      'node 2, input a has {{scale_factor*100}}, which is not a placeholder',
    ],
    [
      'the last part of a field',
      { 'image.relight': { ...smallestGraph, '3': { class_type: 'X', inputs: { a: '{{whites/100}}' } } } },
      'node 3, input a has {{whites/100}}, which is not a field of this operation (did you mean advanced_settings.whites?)',
    ],
    [
      'a link to a node that does not exist',
      upscaler({ mask: ['9', 0] }),
      'image.upscaler.json, node 2, input mask links to node 9, which the workflow does not have',
    ],
    [
      'no image',
      { 'image.upscaler': { '2': smallestGraph['2'] } },
      'image.upscaler.json has no placeholder {{image}}, which every request has',
    ],
    [
      'a graph as ComfyUI saves it',
      { 'image.upscaler': { nodes: [], links: [] } },
      'image.upscaler.json is a workflow as ComfyUI saves it; export it in the API format',
    ],
    [
      'nodes without classes',
      { 'image.upscaler': { '1': { inputs: {} } } },
      'image.upscaler.json, node 1, class_type is required',
    ],
    [
      'a file with another name',
      { 'image.upscaller': smallestGraph },
      'image.upscaller.json is not named after an operation (did you mean image.upscaler.json?)',
    ],
    [
      'only those of another kind',
      { 'video.extend': smallestGraph },
      'workflows has none of image.relight.json',
    ],
  ])('names %s', async (_, workflows, message) => {
    const { exit, stderr } = await checkSettings(workflows);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('names a folder that does not exist, and a file that is not JSON', async () => {
    const missing = `[generation.image]\nengine = "comfyui"\nbaseUrl = "${url}"\nworkflows = "./no"\n`;
    expect((await checkSettings({}, missing)).stderr).toContain('/no is not a folder that can be read');
    const folder = writeWorkflows({});
    writeFileSync(join(folder, 'image.upscaler.json'), '{');
    const text = `[generation.image]\nengine = "comfyui"\nbaseUrl = "${url}"\nworkflows = "${folder}"\n`;
    expect((await checkSettings({}, text)).stderr).toContain('image.upscaler.json is not valid JSON');
  });
});

describe('serve --check of engines of single operations', () => {
  const settings = (operation: string, text: string) => `[generation.operation."${operation}"]\n${text}\n`;

  it.each([
    [
      'an unknown operation',
      settings('image.upscale', 'engine = "local"'),
      'generation.operation."image.upscale" is not a setting (did you mean image.upscaler?)',
    ],
    [
      'an unknown engine',
      settings('image.upscaler', 'engine = "comfy"'),
      'generation.operation."image.upscaler".engine must be local, upstream or comfyui (did you mean comfyui?)',
    ],
    [
      'a vendor in place of an engine',
      settings('image.upscaler', 'engine = "magnific"'),
      'engine must be "upstream", with vendor = "magnific"',
    ],
    [
      'a vendor without an engine',
      '[generation.image]\nvendor = "magnific"\nkey = { env = "K" }',
      'generation.image.engine is missing; for a vendor: engine = "upstream"',
    ],
    [
      'workflows without an engine',
      '[generation.image]\nworkflows = "./workflows"',
      'generation.image.engine is missing; for ComfyUI: engine = "comfyui"',
    ],
    [
      'a setting of another engine',
      '[generation.image]\nengine = "upstream"\nvendor = "magnific"\nworkflows = "."\nkey = { env = "K" }',
      'generation.image.workflows is not a setting of this engine',
    ],
    [
      'a vendor that is not known',
      '[generation.image]\nengine = "upstream"\nvendor = "magnifik"\nkey = { env = "K" }',
      'such as ./mine.json (did you mean magnific?)',
    ],
    [
      'an address without its protocol',
      `[generation.image]\nengine = "comfyui"\nbaseUrl = "127.0.0.1:8199"\nworkflows = "./workflows"`,
      'generation.image.baseUrl must begin with http:// or https://',
    ],
    [
      'a host and port in place of a URL',
      `[generation.image]\nengine = "comfyui"\nbaseUrl = "localhost:8199"\nworkflows = "./workflows"`,
      'generation.image.baseUrl must begin with http:// or https://',
    ],
    [
      'a vendor that does not make it',
      settings('video.extend', 'engine = "upstream"\nvendor = "magnific"\nkey = { env = "K" }'),
      'which makes no video.extend',
    ],
    [
      'a folder without its workflow',
      settings('image.upscaler', `engine = "comfyui"\nbaseUrl = "${url}"\nworkflows = "./workflows"`),
      'workflows has none of image.upscaler.json',
    ],
    [
      'models of images',
      settings(
        'image.upscaler',
        'engine = "upstream"\nvendor = "magnific"\nmodels = { a = "b" }\nkey = { env = "K" }',
      ),
      'generation.operation."image.upscaler".models',
    ],
  ])('names %s', async (_, text, message) => {
    const { exit, stderr } = await checkSettings({ 'image.relight': smallestGraph }, text);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    ['http://127.0.0.1:8188', 0],
    ['http://192.168.1.20:8188', 0],
    ['http://[fd00::1]:8188', 0],
    ['http://comfyui:8188', 0],
    ['http://gpu.local:8188', 0],
    ['https://comfy.example.com/api', 0],
    ['http://comfy.example.com:8188', 2],
    ['http://8.8.8.8:8188', 2],
    ['http://me:secret@127.0.0.1:8188', 2],
    ['ftp://127.0.0.1', 2],
  ])('takes plain http only where no public network lies between: %s', async (address, expected) => {
    const text = `[generation.image]\nengine = "comfyui"\nbaseUrl = "${address}"\nworkflows = "./workflows"\n`;
    expect((await checkSettings({ 'image.relight': smallestGraph }, text)).exit).toBe(expected);
  });
});

it('serve --check shows how a key is given, and never the key', async () => {
  const text = '[generation.image]\nengine = "upstream"\nvendor = "magnific"\nkey = "FPSX123"\n';
  const { exit, stderr } = await checkSettings({}, text);
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining(
      'generation.image.key must be { env = "VENDOR_KEY" } or { file = "/path" }; never the secret itself',
    ),
  ]);
  expect(stderr).not.toContain('FPSX123');
  const without = await checkSettings({}, text.replace(/key.*\n/, ''));
  expect(without.stderr).toContain('generation.image.key is required: { env = "VENDOR_KEY" } or');
});

it('the guide names the options that each example workflow takes', () => {
  const { workflows } = loadWorkflows('examples/comfyui', listTaskOperations('image'));
  const guide = readFileSync('docs/comfyui.md', 'utf8');
  const rows = guide.match(/^\| `image .*$/gm) ?? [];
  const listed = rows.map((row) => [...row.matchAll(/`--([a-z-]+)`/g)].map(([, flag]) => flag).sort());
  const taken = ['image.relight', 'image.styleTransfer', 'image.skinEnhancer', 'image.upscaler'] as const;
  const flags = taken.map((operation) => {
    const names = [...(workflows.get(operation)?.placeholders.values() ?? [])].map(({ name }) => name);
    const options = names.filter((name) => !['image', 'reference_image'].includes(name));
    return options.map((name) => name.replaceAll('_', '-')).sort();
  });
  expect(listed).toEqual(flags);
});
