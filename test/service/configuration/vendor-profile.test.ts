import { expect, it, test } from 'vitest';
import { loadVendorProfile, vendorProfiles } from '../../../src/service/configuration/vendor-profile.js';
import { writeProfile } from '../../support/vendor-service.js';

// biome-ignore lint/suspicious/noExplicitAny: a profile is broken on purpose
type Json = any;
type Place = readonly (string | number)[];

/** The places of all values of a profile, except what may be any JSON. */
function listPlaces(value: Json, path: Place = []): Place[] {
  if (['set', 'body'].includes(String(path.at(-1)))) return [];
  const inner = value !== null && typeof value === 'object' ? Object.entries(value) : [];
  return [
    ...(path.length > 0 ? [path] : []),
    ...inner.flatMap(([key, held]) => listPlaces(held, [...path, Array.isArray(value) ? Number(key) : key])),
  ];
}

function replaceAt(value: Json, [first, ...rest]: Place, change: (held: Json) => Json): Json {
  if (first === undefined) return change(value);
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[first] = replaceAt(copy[first], rest, change);
  return copy;
}

/** What is said of a profile with this content. */
function readProblems(profile: Json): { path: string; message: string }[] {
  const loaded = loadVendorProfile(writeProfile(profile));
  if (!('problems' in loaded)) return [];
  return loaded.problems.map(({ path, message }) => ({ path: path.join('.'), message: `${message}` }));
}

const profiles: Readonly<Record<string, object>> = vendorProfiles;

it.each(Object.keys(profiles))(
  'each field of %s that is wrong is reported by its name, in one sentence',
  (name) => {
    const { extends: base, ...own } = profiles[name] as Json;
    const inherited = base ? { ...(profiles[base] as Json), ...own } : own;
    // Null takes away what the other profile has.
    const whole = Object.fromEntries(Object.entries(inherited).filter(([, held]) => held !== null));
    expect(readProblems(whole)).toEqual([]);
    const places = listPlaces(whole);
    expect(places.length).toBeGreaterThan(20);
    for (const path of places) {
      const place = path.join('.');
      const problems = readProblems(
        replaceAt(whole, path, (held) => (typeof held === 'boolean' ? 'x' : true)),
      );
      expect(problems, place).toEqual([{ path: place, message: expect.stringMatching(/^(must|is|has) .+/) }]);
    }
    for (const path of [[], ...places]) {
      const inside = path.reduce<Json>((held, key) => held[key], whole);
      if (inside === null || typeof inside !== 'object' || Array.isArray(inside)) continue;
      const problems = readProblems(replaceAt(whole, path, (held) => ({ ...held, unheardOf: true })));
      expect(problems.length, path.join('.')).toBe(1);
      expect(`${problems[0]?.path} ${problems[0]?.message}`, path.join('.')).toContain('unheardOf');
    }
  },
);

test.each([
  ['fields', { post: '/up', fields: ['imgae'] }, 'imgae'],
  ['when', { post: '/up', when: ['images.1'] }, 'images'],
  ['values', { post: '/up', values: { flavour: { a: 'b' } } }, 'flavour'],
  ['body', { post: '/up', body: { input: ['{imagine}', 'Draw {prompting}'] } }, 'imagine, prompting'],
])('a route whose %s name what is no option of its operation is refused', (field, route, word) => {
  const problems = readProblems({ extends: 'magnific', operations: { 'image.upscaler': [route] } });
  expect(problems).toEqual([
    { path: `operations.image.upscaler.0.${field}`, message: expect.stringContaining(word) },
  ]);
});

test('an operation that does not exist is refused', () => {
  const operations = { 'image.upscale': [{ post: '/up' }] };
  expect(readProblems({ extends: 'magnific', operations })).toEqual([
    { path: 'operations.image.upscale', message: expect.stringContaining('image.upscaler') },
  ]);
});

test('a vendor whose answers have no results must say where the id and the state of a task are', () => {
  const task = { files: { each: ['/data'] } };
  expect(readProblems({ extends: 'magnific', task }).map(({ path }) => path)).toEqual([
    ...['task.id', 'task.state', 'task.done', 'task.failed'],
  ]);
  expect(readProblems({ extends: 'magnific', task: { ...task, isAnswer: true } })).toEqual([]);
});
