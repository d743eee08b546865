import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
      'image.upscaler.json.2.a has {{scale_facter}}, which is not a field of this operation (did you mean scale_factor?)',
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
      'image.upscaler.json.2.a has {{prompt, which is not a placeholder; write it as {{name}}, {{name/100}} or',
    ],
    [
      'spaces in braces',
      upscaler({ a: '{{image}} {{ seed }}' }),
      '2.a has {{ seed }}, which is not a placeholder; write it as {{name}}, {{name/100}} or {{name=2}}, without',
    ],
    [
      'another sum than a division',
      upscaler({ a: '{{scale_factor*100}}' }),
      '2.a has {{scale_factor*100}}, which is not a placeholder',
    ],
    [
      'the last part of a field',
      { 'image.relight': { ...smallestGraph, '3': { class_type: 'X', inputs: { a: '{{whites/100}}' } } } },
      '3.a has {{whites/100}}, which is not a field of this operation (did you mean advanced_settings.whites?)',
    ],
    [
      'a link to a node that does not exist',
      upscaler({ mask: ['9', 0] }),
      'image.upscaler.json.2.mask links to node 9, which the workflow does not have',
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
      'image.upscaler.json.1.class_type is required',
    ],
    [
      'a file with another name',
      { 'image.upscaller': smallestGraph },
      'image.upscaller.json is not named after an operation (did you mean image.upscaler.json?)',
    ],
    ['only those of another kind', { 'video.extend': smallestGraph }, 'which has none of image.relight.json'],
  ])('names %s', async (_, workflows, message) => {
    const { exit, stderr } = await checkSettings(workflows);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it('names a folder that does not exist, and a file that is not JSON', async () => {
    const missing = `[generation.image]\nengine = "comfyui"\nbaseUrl = "${url}"\nworkflows = "./no"\n`;
    expect((await checkSettings({}, missing)).stderr).toContain('which is not a folder that can be read');
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
      'generation.operation.image.upscale',
    ],
    [
      'an unknown engine',
      settings('image.upscaler', 'engine = "comfy"'),
      "must have the engine 'local', 'upstream' or 'comfyui'",
    ],
    [
      'a vendor that does not make it',
      settings('video.extend', 'engine = "upstream"\nvendor = "magnific"\nkey = { env = "K" }'),
      'which makes no video.extend',
    ],
    [
      'a folder without its workflow',
      settings('image.upscaler', `engine = "comfyui"\nbaseUrl = "${url}"\nworkflows = "./workflows"`),
      'which has none of image.upscaler.json',
    ],
    [
      'models of images',
      settings(
        'image.upscaler',
        'engine = "upstream"\nvendor = "magnific"\nmodels = { a = "b" }\nkey = { env = "K" }',
      ),
      'generation.operation.image.upscaler.models',
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
