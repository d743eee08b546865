import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { outlines, shared } from '../../src/client/outlines.js';
import { contract } from '../../src/contract/index.js';
import { InvalidNaming, loadNaming, namingNames } from '../../src/contract/naming/load-naming.js';
import { Naming } from '../../src/contract/naming/naming.js';
import type { NamingMap } from '../../src/contract/naming/naming-map.js';
import { parseNaming } from '../../src/contract/naming/parse-naming.js';
import { createNamedDocument } from '../../src/contract/naming/rename-document.js';
import { createOpenApiDocument } from '../../src/contract/openapi.js';
import { listOperations } from '../../src/contract/operation.js';
import { render, say } from '../../src/contract/schema/message.js';
import type { Outline } from '../../src/contract/schema/outline.js';

const map: NamingMap = JSON.parse(readFileSync('src/contract/naming/comfy.json', 'utf8'));
const comfy = new Naming(map);
const refuseToRead = () => {
  throw new Error('Nothing is read.');
};

/** A value with every field that an outline declares, and every value that the map renames. */
function buildSample(outline: Outline, field = ''): unknown {
  switch (outline.type) {
    case 'shared':
      return buildSample(shared[outline.index] as Outline, field);
    case 'undecided':
      return outline.shape && buildSample(outline.shape, field);
    case 'either':
      return buildSample(outline.of.at(-1) as Outline, field);
    case 'list':
      return [buildSample(outline.items, field)];
    case 'map': {
      const keys = map.valueKeyed?.includes(field)
        ? Object.keys(map.values?.model ?? {})
        : ['host_node_name'];
      return Object.fromEntries(keys.map((key) => [key, buildSample(outline.values)]));
    }
    case 'object':
      return Object.fromEntries(
        Object.entries(outline.fields).map(([name, inner]) => [name, buildSample(inner, name)]),
      );
    default: {
      const [first] = Object.keys(map.values?.[field] ?? {});
      return first ?? (outline.type === 'constant' ? outline.values[0] : 'host_node_name');
    }
  }
}

/** The names of the fields of a value at any depth, without what stands below opaque fields and maps. */
function listNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listNames);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...listNames(inner)]);
}

const bodies = [...outlines].flatMap(([name, { body, response }]) =>
  [body, response].flatMap((outline) => (outline ? [[name, outline] as const] : [])),
);

describe('every word of the map of comfy', () => {
  test('occurs in the contract, so that a mistyped one is noticed', () => {
    expect(parseNaming(map)).toEqual({ ok: true, map });
    const samples = JSON.stringify(bodies.map(([, outline]) => buildSample(outline)));
    for (const field of Object.keys(map.fields ?? {})) expect(samples).toContain(`"${field}"`);
  });

  test.each(bodies)('of %s comes back from the other side unchanged', (name, outline) => {
    const ours = buildSample(outline);
    const theirs = comfy.renameBody(name, outline, ours, 'theirs', shared);
    expect(comfy.renameBody(name, outline, theirs, 'ours', shared)).toEqual(ours);
    expect(comfy.renameBody(name, outline, ours, 'ours', shared)).toEqual(ours);
    const left = listNames(theirs).filter((field) => Object.hasOwn(map.fields ?? {}, field));
    // A key that a user chose, such as the name of a definition, is not a field.
    expect(left.filter((field) => field !== 'host_node_name')).toEqual([]);
  });

  test.each(
    Object.entries(map.values ?? {}).flatMap(([field, words]) =>
      Object.entries(words).map(([ours, theirs]) => [field, ours, theirs] as const),
    ),
  )('of %s: %s becomes %s and back', (field, ours, theirs) => {
    const outline: Outline = { type: 'object', fields: { [field]: { type: 'string' } }, required: [] };
    expect(comfy.renameBody(undefined, outline, { [field]: ours }, 'theirs')).toMatchObject({
      [field]: theirs,
    });
    expect(comfy.renameBody(undefined, outline, { [field]: theirs }, 'ours')).toEqual({ [field]: ours });
    expect(render(say`must be 5 with ${{ value: ours }}.`, comfy.names)).toBe(`must be 5 with ${theirs}.`);
  });

  test.each(Object.entries(map.paths?.segments ?? {}))('maps the segment %s to %s', (ours, theirs) => {
    const paths = [...outlines.values()]
      .map(({ path }) => path)
      .filter((path) => path.split('/').includes(ours));
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) {
      expect(comfy.renamePath(path)).toBe(path.replace(`/${ours}`, `/${theirs}`));
    }
  });

  test.each(Object.entries(map.query ?? {}))('maps the query parameter %s to %s', (ours, theirs) => {
    expect(comfy.renameQuery({ [ours]: 'host_node_name' }, 'theirs')).toEqual({ [theirs]: 'host_node_name' });
    expect(comfy.renameQuery({ [theirs]: 'x' }, 'ours')).toEqual({ [ours]: 'x' });
  });

  test.each(Object.entries(map.fields ?? {}))('messages call %s %s', (ours, theirs) => {
    expect(render(say`${{ field: `node.${ours}` }} is required`, comfy.names)).toBe(
      `node.${theirs} is required`,
    );
  });
});

/** Every word of the map with the one of the other service. */
const words = Object.entries({
  ...map.paths?.segments,
  ...map.query,
  ...map.fields,
  ...map.values?.policy,
  ...map.values?.model,
});

/** The words that only this contract has. A new word of it belongs into the map, too. */
const OWN_WORDS =
  /hostui|host[-_]nodes|host_node_|HostNodePolicy|imagevendor|videovendor|repo_stars|vv(?=q|2)/i;

describe('the document in the names of comfy', () => {
  const document = createOpenApiDocument(contract, { version: '1.0.0' });
  const theirs = createNamedDocument(comfy, contract, { version: '1.0.0' });

  test('has no word that only this contract has, in paths, fields, values and sentences', () => {
    const left = new Set<string>();
    const visit = (value: unknown, key = ''): void => {
      if (typeof value === 'object' && value !== null) {
        for (const [name, inner] of Object.entries(value)) {
          if (OWN_WORDS.test(name)) left.add(name);
          visit(inner, name);
        }
      } else if (OWN_WORDS.test(String(value)) && !['operationId', '$ref', 'title'].includes(key)) {
        left.add(`${key}: ${value}`);
      }
    };
    visit(theirs);
    expect([...left]).toEqual([]);
  });

  test('has every word of the map', () => {
    const [ours, text] = [JSON.stringify(document), JSON.stringify(theirs)];
    for (const [own, other] of words) {
      expect([own, ours.includes(own)]).toEqual([own, true]);
      expect([other, text.includes(other)]).toEqual([other, true]);
    }
  });
});

test.each([...listOperations(contract)])(
  '%s has no parameter that only this contract has',
  (_, { query }) => {
    const given = Object.fromEntries(Object.keys(query?.shape ?? {}).map((name) => [name, 'x']));
    const names = Object.keys(comfy.renameQuery(given, 'theirs'));
    expect(names.filter((name) => OWN_WORDS.test(name))).toEqual([]);
  },
);

test('a definition in the document has the name of the other service', () => {
  const outline = outlines.get('hostNodes.listAll')?.response as Outline;
  const ours = { host_nodes: [{ host_node_name: 'Blur' }], total: 1 };
  const theirs = { comfy_nodes: [{ comfy_node_name: 'Blur' }], total: 1 };
  expect(comfy.renameBody('hostNodes.listAll', outline, ours, 'theirs', shared)).toEqual(theirs);
});

test('text that users wrote is never renamed', () => {
  const outline = outlines.get('node.get')?.response as Outline;
  const node = {
    id: 'repo_stars',
    description: 'github_stars',
    tags: ['host_node_name'],
    translations: { de: { repo_stars: 'Sterne' } },
    unknown_here: { repo_stars: 1 },
  };
  expect(comfy.renameBody('node.get', outline, node, 'ours', shared)).toEqual(node);
  expect(comfy.renameBody('node.get', outline, node, 'theirs', shared)).toMatchObject(node);
});

test('with both spellings, each renamed field appears twice and all others once', () => {
  const outline = outlines.get('node.get')?.response as Outline;
  expect(comfy.renameBody('node.get', outline, { id: 'a', repo_stars: 3 }, 'both', shared)).toEqual({
    id: 'a',
    repo_stars: 3,
    github_stars: 3,
  });
});

test('fields that the other service always sends are filled in', () => {
  const outline = outlines.get('node.get')?.response as Outline;
  expect(comfy.renameBody('node.get', outline, { id: 'a' }, 'theirs', shared)).toEqual({ id: 'a' });
  expect(comfy.renameBody('node.get', outline, { id: 'a' }, 'theirs', shared, true)).toEqual({
    id: 'a',
    ...{ author: '', description: '', icon: '', license: '', repository: '', tags: [] },
  });
});

test('a field with another name in one operation is renamed there only', () => {
  const token = outlines.get('publisher.token.list')?.response as Outline;
  const node = outlines.get('node.get')?.response as Outline;
  expect(comfy.renameBody('publisher.token.list', token, [{ createdAt: 'x' }], 'ours', shared)).toEqual([
    { created_at: 'x' },
  ]);
  expect(comfy.renameBody('node.get', node, { created_at: 'x' }, 'theirs', shared)).toMatchObject({
    created_at: 'x',
  });
});

test.each([
  [400, 'The node version already exists', 'version_exists'],
  [500, 'duplicate: node with same repo already exists: x', 'duplicate_node'],
  [400, 'Invalid personal access token', 'invalid_personal_access_token'],
  [403, 'Publisher is banned', 'banned'],
  [404, 'duplicate', undefined],
])('an error %i "%s" of the other service means %s', (status, text, code) => {
  expect(comfy.findErrorCode(status, text)).toBe(code);
});

describe('the identity', () => {
  test('is represented by no naming, so that it costs nothing', async () => {
    expect(await loadNaming('regen', refuseToRead)).toBeUndefined();
  });

  test.each(bodies)('changes no byte of %s', (name, outline) => {
    const identity = new Naming({});
    const text = JSON.stringify(buildSample(outline));
    for (const side of ['ours', 'theirs', 'both'] as const) {
      expect(JSON.stringify(identity.renameBody(name, outline, JSON.parse(text), side, shared))).toBe(text);
    }
  });

  test.each([...listOperations(contract)])(
    'changes neither path nor query of %s',
    (name, { method, path }) => {
      const identity = new Naming({});
      const query = { search: 'x', host_node_name: 'y' };
      expect(identity.writeRequest({ name, method, path }, { query, body: undefined })).toEqual({
        path,
        query,
      });
      const message = say`${{ field: 'host_node_name' }} of ${{ value: 'vvq3-pro' }}`;
      expect(render(message, identity.names)).toBe('host_node_name of vvq3-pro');
    },
  );
});

describe('a naming of a file', () => {
  const load = (value: unknown) =>
    loadNaming('names.json', () => (typeof value === 'string' ? value : JSON.stringify(value)));

  test('is used like a built-in one', async () => {
    const naming = await load({ about: 'ours', fields: { repo_stars: 'stars' } });
    expect(naming?.translateField('repo_stars')).toBe('stars');
    for (const name of namingNames) await expect(loadNaming(name, refuseToRead)).resolves.not.toThrow();
  });

  test('is refused with all of its mistakes at once', async () => {
    const mistakes = {
      fields: { repo_star: 'stars', rating: 'downloads', icon: 'x', banner_url: 'x' },
      query: { serch: 'q' },
      paths: { segments: { nodez: 'n' }, rewrites: [{ regen: 'GET /nowhere', real: 'GET /x' }] },
      operations: { 'node.got': { id: 'key' } },
    };
    const error = await load(mistakes).catch((reason) => reason);
    expect(error).toBeInstanceOf(InvalidNaming);
    expect(error.message).toBe(
      'names.json: paths.segments.nodez is not a path segment of the contract; ' +
        'fields.repo_star is not a field of the contract; query.serch is not a query parameter of the contract; ' +
        'operations.node.got is not an operation of the contract; ' +
        'paths.rewrites.0.regen is not an operation of the contract; ' +
        'fields.rating must not be downloads, which is another word of the contract; ' +
        'fields.icon must not have the name of another word: x; ' +
        'fields.banner_url must not have the name of another word: x',
    );
  });

  test('is refused with paths that cannot be routed', async () => {
    const rewrites = [
      { regen: 'GET /nodes/{nodeId}', real: 'GET /packs' },
      { regen: 'GET /nodes', real: 'GET /host-nodes' },
      { regen: 'GET /nodes', real: 'GET /all' },
      { regen: 'GET /users/me', real: 'GET /all' },
    ];
    await expect(load({ paths: { rewrites } })).rejects.toThrow(
      'names.json: paths.rewrites.0.real must have {nodeId}; ' +
        'paths.rewrites.1.real is another operation already; paths.rewrites.3.real is another operation already',
    );
  });

  test.each([
    [{ segments: { nodes: 'a/b' } }, 'paths.segments.nodes must be letters'],
    [{ segments: { nodes: '{nodeId}' } }, 'paths.segments.nodes must be letters'],
    [{ rewrites: [{ regen: 'GET /nodes', real: 'GET /all?x=1' }] }, 'paths.rewrites.0.real must be like'],
    [{ rewrites: [{ regen: 'GET /nodes', real: 'GET /nodes/{team}' }] }, 'is another operation already'],
    [
      { segments: { nodes: 'packs' }, rewrites: [{ regen: 'GET /users/me', real: 'GET /packs' }] },
      'is another operation already',
    ],
    [{ rewrites: [{ regen: 'GET /nodes', real: 'GET /{x}/{x}' }] }, 'must not have a parameter twice'],
  ])('is refused with paths that no document can have: %j', async (paths, words) => {
    await expect(load({ paths })).rejects.toThrow(words);
  });

  test('is refused if it is not JSON, or has keys and codes that nothing reads', async () => {
    await expect(load('{')).rejects.toThrow('names.json: is not valid JSON');
    await expect(
      load({ field: {}, errors: { meaningFromText: [{ status: 400, contains: 'x', code: 'nope' }] } }),
    ).rejects.toThrow(/code must be an error code of the contract.*field is not a known field/);
  });
});
