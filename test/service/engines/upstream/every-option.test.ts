import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { getOperation, type TaskOperation } from '../../../../src/contract/index.js';
import { describeFields, type FieldDescription } from '../../../../src/contract/schema/fields.js';
import { type VideoModel, videoModels } from '../../../../src/contract/video-models.js';
import {
  loadVendorProfile,
  type VendorProfile,
  type VendorRoute,
} from '../../../../src/service/configuration/vendor-profile.js';
import { regen } from '../../../support/cli.js';
import { pixel } from '../../../support/generation.js';
import { mp4, png } from '../../../support/generation-double.js';
import { startMagnific } from '../../../support/magnific.js';
import { folderForTest } from '../../../support/service.js';
import { profileServiceForTest, writeProfile } from '../../../support/vendor-service.js';
import { startVidu } from '../../../support/vidu.js';

const commands: Readonly<Record<string, string>> = {
  'image.relight': 'image relight',
  'image.styleTransfer': 'image style-transfer',
  'image.skinEnhancer': 'image skin-enhancer',
  'image.upscaler': 'image upscaler',
  'video.text2video': 'video text2video',
  'video.startEnd2video': 'video start-end2video',
  'video.extend': 'video extend',
};

type Fields = Readonly<Record<string, unknown>>;

/** A line of a batch, and what the vendor must get at its route. */
interface Row {
  readonly line: Fields;
  readonly post: string;
  readonly expected: Fields;
}

/** Every value of a field that has few, otherwise its limits. */
function listValues({ type, enum: choices, minimum, maximum, fields, ...rest }: FieldDescription): unknown[] {
  if (fields)
    return combine(Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, listValues(one)])));
  if (choices) return [...choices];
  if (type === 'boolean') return [true, false];
  if (type === 'integer' || type === 'number') return [minimum ?? 0, Math.min(maximum ?? 9, 100)];
  return ['examples' in rest && rest.examples?.[0] ? rest.examples[0] : 'A boat'];
}

/** As many combinations as the longest list has values, so that each value is in one of them. */
function combine(values: Readonly<Record<string, readonly unknown[]>>): Fields[] {
  const longest = Math.max(...Object.values(values).map((list) => list.length));
  return Array.from({ length: longest }, (_, at) =>
    Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list[at % list.length]])),
  );
}

const images = [
  'image',
  'reference_image',
  'transfer_light_from_reference_image',
  'transfer_light_from_lightmap',
];

function listRows(
  profile: VendorProfile,
  operation: TaskOperation,
  route: VendorRoute,
  special: Readonly<Record<string, readonly unknown[]>>,
): Row[] {
  const { body } = getOperation(operation);
  const known = describeFields(body as z.ZodObject);
  const tables = { ...profile.values, ...route.values };
  const values = Object.fromEntries(
    (route.fields ?? []).flatMap((name): [string, readonly unknown[]][] => {
      if (name === 'video_creation_id') return [];
      if (['duration', 'resolution', 'images'].includes(name) && operation !== 'video.extend') return [];
      const table = tables[name];
      if (special[name]) return [[name, special[name]]];
      if (images.includes(name)) return [[name, ['a.png']]];
      if (name === 'model' && table) {
        const made = known.model?.enum;
        return [[name, Object.keys(table).filter((one) => made?.includes(one))]];
      }
      return [[name, listValues(known[name] as FieldDescription)]];
    }),
  );
  return combine(values).map((fields, at) => {
    const { transfer_light_from_reference_image, transfer_light_from_lightmap, ...others } = fields;
    const light = at % 2 === 0 ? { transfer_light_from_reference_image } : { transfer_light_from_lightmap };
    const frames = (route.fields ?? []).includes('images')
      ? { images: route.when.includes('images.1') ? ['a.png', 'a.png'] : ['a.png'] }
      : {};
    const line = {
      ...{ ...others, ...frames, ...chooseFormat(others, at, profile) },
      ...(operation === 'image.relight' && light),
      // The command line wants both.
      ...('video_url' in others && { video_creation_id: 'unknown' }),
    };
    const translated = Object.entries(line).map(([name, value]) => [
      name,
      tables[name]?.[String(value)] ?? value,
    ]);
    const expected = Object.fromEntries(
      // The vendor gets the pictures themselves, and the URL of another's video without its id.
      translated.filter(([name]) => ![...images, 'images', 'video_creation_id'].includes(String(name))),
    );
    return { line: { command: commands[operation], ...line }, post: route.post, expected };
  });
}

/** A duration and a resolution of the model. */
function chooseFormat({ model, duration }: Fields, at: number, { values }: VendorProfile): Fields {
  const made = videoModels[model as VideoModel];
  if (!made || duration !== undefined) return {};
  const { from, to, resolutions } = made.modes[at % made.modes.length] as (typeof made.modes)[number];
  const sold = resolutions.filter((one) => values.resolution?.[one] !== undefined);
  return { duration: at % 2 === 0 ? from : to, resolution: sold[at % sold.length] };
}

it.each(['magnific', 'vidu'] as const)(
  'everything that %s has is made from the command line to the saved file',
  async (name) => {
    const kind = name === 'vidu' ? 'video' : 'image';
    const vendor = name === 'vidu' ? await startVidu() : await startMagnific();
    const patient = writeProfile({ extends: name, limits: {} });
    const { asking } = await profileServiceForTest(kind, patient, vendor);
    const loaded = loadVendorProfile(name);
    if ('problems' in loaded) throw new Error('The profile is not valid.');
    const { profile } = loaded;
    const { origin } = new URL(vendor.url);
    const special = {
      meta_data: ['{"a":1}'],
      wm_url: [`${origin}/files/cover.png`],
      video_url: [`${origin}/files/plain.mp4`],
      seed: [0, 2 ** 31 - 1],
    };
    const rows = Object.entries(profile.operations).flatMap(([operation, routes]) =>
      routes.flatMap((route) => listRows(profile, operation as TaskOperation, route, special)),
    );
    const cwd = folderForTest();
    writeFileSync(join(cwd, 'a.png'), Buffer.from(pixel, 'base64'));
    writeFileSync(join(cwd, 'jobs.jsonl'), rows.map(({ line }) => `${JSON.stringify(line)}\n`).join(''));
    const env = { REGEN_BASE_URL: asking.url, REGEN_TOKEN: asking.token };
    const flags = ['--ndjson', '-o', 'out/{line}', '--concurrency', '8', '--interval', '100ms'];
    const { stdout, stderr } = await regen(['batch', 'jobs.jsonl', ...flags], { cwd, env });
    const ends = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(ends.length, stderr).toBe(rows.length);
    for (const { line, status, saved, error } of ends) {
      expect(status, JSON.stringify([rows[line - 1]?.line, error])).toBe('done');
      expect(readFileSync(saved[0]).equals(kind === 'image' ? png : mp4)).toBe(true);
    }
    const made = [...vendor.tasks.values()].map(({ route, body }) => ({ route, ...body }));
    for (const { post, expected } of rows)
      expect(made).toContainEqual(expect.objectContaining({ route: post, ...expected }));
  },
);
