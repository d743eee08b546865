import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { mp4, png } from './generation-double.js';
import { listenOn } from './listen.js';

// biome-ignore lint/suspicious/noExplicitAny: what arrives is looked at as JavaScript would
type Fields = Record<string, any>;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Fields;
}

/** What a route answers: a status and a JSON body, or bytes. */
type Answered = readonly [status: number, body?: unknown];

/** Words of the contract that the other service does not know, wherever they stand. */
const CONTRACT_WORDS =
  /hostui|host[-_]node|repo_stars|HostNodePolicy|imagevendor|videovendor|\bvv(?:q\d|2\.0)/;

const PAT = 'comfy-pat-1';

/**
 * A registry that knows only the names, operations and error bodies of the service that the contract is modelled on. It
 * refuses any request with a word of the contract, ignores Authorization at publish, and refuses a personal access
 * token as bearer elsewhere.
 */
export async function comfyRegistryForTest() {
  const nodes = new Map<string, Fields>();
  const versions: Fields[] = [];
  const publishers = new Map<string, Fields>();
  const archives = new Map<string, Buffer>();
  const tasks = new Map<string, Fields>();
  const asked: Asked[] = [];
  /** The status that an uploaded version gets, with its reason. */
  const verdict = { status: 'NodeVersionStatusActive', reason: '', extracts: true };

  const show = (version: Fields, reason = false) => ({
    ...version,
    status_reason: reason ? version.status_reason : '',
    ...(archives.has(version.id) && { downloadUrl: `${server.url}/archives/${version.id}` }),
  });
  const showNode = (node: Fields) => {
    const latest = versions
      .filter(({ node_id, status }) => node_id === node.id && status.endsWith('Active'))
      .at(-1);
    return { ...node, github_stars: 7, ...(latest && { latest_version: show(latest) }) };
  };
  const find = (nodeId: string, version: string) =>
    versions.find((one) => one.node_id === nodeId && [one.id, one.version].includes(version));
  const listDefinitions = (version: Fields) => [
    {
      comfy_node_name: 'Greet',
      category: version.version === '1.0.0' ? 'pack' : 'other',
      policy: 'ComfyNodePolicyActive',
      input_types: '{"required": {"name": ["STRING", {}]}}',
      return_types: '["STRING"]',
      function: 'greet',
    },
  ];
  const missing: Answered = [404, { message: 'not found' }];

  const publish = ({ body }: Asked, publisherId: string, nodeId: string): Answered => {
    if (body.personal_access_token !== PAT)
      return [400, { error: 'Invalid personal access token', message: '' }];
    if (find(nodeId, body.node_version.version)) return [400, { message: 'The node version already exists' }];
    if (!nodes.has(nodeId)) nodes.set(nodeId, { ...body.node, id: nodeId, publisher: { id: publisherId } });
    const version = {
      ...body.node_version,
      id: randomUUID(),
      node_id: nodeId,
      status: 'NodeVersionStatusPending',
      comfy_node_extract_status: 'pending',
      createdAt: '2026-01-01T00:00:00Z',
    };
    versions.push(version);
    return [201, { node_version: show(version), signedUrl: `${server.url}/uploads/${version.id}` }];
  };
  const upload = (id: string, bytes: Buffer): Answered => {
    archives.set(id, bytes);
    const version = versions.find((one) => one.id === id) as Fields;
    Object.assign(version, { status: verdict.status, status_reason: verdict.reason });
    if (verdict.extracts) version.comfy_node_extract_status = 'success';
    return [200];
  };
  const startImage = (wrapped: boolean): Answered => {
    const task = { task_id: randomUUID(), status: 'CREATED', generated: [] };
    tasks.set(task.task_id, task);
    return [200, wrapped ? { data: task } : task];
  };
  const readImage = (id: string): Answered => {
    if (!tasks.has(id)) return [404, { error: 'not_found', message: 'no such task' }];
    return [200, { data: { task_id: id, status: 'COMPLETED', generated: [`${server.url}/results/a.png`] } }];
  };
  const startVideo = ({ body }: Asked): Answered => {
    if (body.prompt === 'too long')
      return [400, { message: 'bad request', details: ['prompt is too long for viduq3-pro'] }];
    const task = { ...body, task_id: randomUUID(), state: 'created', credits: 8 };
    tasks.set(task.task_id, task);
    return [200, task];
  };
  const readVideo = (id: string): Answered => {
    const creation = { id: 'c1', url: `${server.url}/results/a.mp4`, cover_url: '', watermarked_url: '' };
    return tasks.has(id)
      ? [200, { id, state: 'success', err_code: '', credits: 8, payload: '', creations: [creation] }]
      : missing;
  };
  const list = (all: Fields[], { query }: Asked): Answered => {
    const nodes = all.map(showNode);
    return [
      200,
      { nodes, page: 1, limit: Number(query.get('limit') ?? 10), total: nodes.length, totalPages: 1 },
    ];
  };

  const image = '/proxy/freepik/v1/ai';
  const routes: readonly [string, (asked: Asked, ...names: string[]) => Answered][] = [
    [
      'POST /publishers',
      ({ body }) => {
        publishers.set(body.id, body);
        return [201, body];
      },
    ],
    ['GET /users/publishers/', () => [200, [...publishers.values()]]],
    ['GET /publishers/:p', (_, p) => (publishers.has(p) ? [200, publishers.get(p)] : missing)],
    [
      'PUT /publishers/:p',
      ({ body }, p) => {
        publishers.set(p, { ...publishers.get(p), ...body });
        return [200, publishers.get(p)];
      },
    ],
    [
      'POST /publishers/:p/tokens',
      ({ body }) => [201, { id: 't1', name: body.name, token: PAT, createdAt: '2026-01-01T00:00:00Z' }],
    ],
    [
      'GET /publishers/:p/tokens',
      () => [200, [{ id: 't1', name: 'ci', token: 'comfy****', createdAt: '2026-01-01T00:00:00Z' }]],
    ],
    [
      'POST /publishers/:p/nodes',
      ({ body }, p) => {
        if (nodes.has(body.id)) return [500, { error: 'duplicate: node with same repo already exists: x' }];
        nodes.set(body.id, { ...body, publisher: { id: p } });
        return [201, showNode(nodes.get(body.id) as Fields)];
      },
    ],
    [
      'GET /publishers/:p/nodes/v2',
      (asked, p) =>
        list(
          [...nodes.values()].filter(({ publisher }) => publisher.id === p),
          asked,
        ),
    ],
    [
      'PUT /publishers/:p/nodes/:n',
      ({ body }, _, n) => {
        nodes.set(n, { ...nodes.get(n), ...body });
        return [200, showNode(nodes.get(n) as Fields)];
      },
    ],
    ['POST /publishers/:p/nodes/:n/versions', publish],
    [
      'PUT /publishers/:p/nodes/:n/versions/:v',
      ({ body }, _, n, v) => {
        const version = find(n, v);
        return version ? [200, show(Object.assign(version, body))] : missing;
      },
    ],
    ['GET /nodes', (asked) => list([...nodes.values()], asked)],
    [
      'GET /nodes/search',
      (asked) =>
        list(
          [...nodes.values()].filter(({ id }) => id.includes(asked.query.get('search'))),
          asked,
        ),
    ],
    ['GET /nodes/:n', (_, n) => (nodes.has(n) ? [200, showNode(nodes.get(n) as Fields)] : missing)],
    [
      'GET /nodes/:n/install',
      ({ query }, n) => {
        const version = find(n, query.get('version') ?? versions.at(-1)?.version);
        return version ? [200, show(version)] : missing;
      },
    ],
    [
      'GET /nodes/:n/versions',
      ({ query }, n) => [
        200,
        versions
          .filter(({ node_id, status }) => {
            const wanted = query.getAll('statuses');
            return node_id === n && (wanted.length === 0 || wanted.includes(status));
          })
          .map((one) => show(one, query.get('include_status_reason') === 'true')),
      ],
    ],
    [
      'GET /nodes/:n/versions/:v',
      (_, n, v) => {
        const version = find(n, v);
        return version ? [200, show(version)] : missing;
      },
    ],
    [
      'GET /nodes/:n/versions/:v/comfy-nodes',
      (_, n, v) => {
        const version = find(n, v);
        return version ? [200, { comfy_nodes: listDefinitions(version), totalNumberOfPages: 1 }] : missing;
      },
    ],
    [
      'GET /comfy-nodes',
      ({ query }) => {
        const all = versions
          .flatMap(listDefinitions)
          .filter(
            (one) => !query.has('comfy_node_name') || one.comfy_node_name === query.get('comfy_node_name'),
          );
        return [200, { comfy_nodes: all, total: all.length }];
      },
    ],
    [
      'POST /bulk/nodes/versions',
      ({ body }) => [
        200,
        {
          node_versions: body.node_versions.map((identifier: Fields) => {
            const version = find(identifier.node_id, identifier.version);
            return version
              ? { identifier, status: 'success', node_version: show(version) }
              : { identifier, status: 'not_found' };
          }),
        },
      ],
    ],
    ...([
      'image-relight',
      'skin-enhancer/creative',
      'image-upscaler-precision-v2',
      'image-style-transfer',
    ].flatMap(
      (kind) =>
        [
          [`POST ${image}/${kind}`, () => startImage(kind !== 'image-style-transfer')],
          [`GET ${image}/${kind.replace('/creative', '')}/:id`, (_: Asked, id: string) => readImage(id)],
        ] as const,
    ) as [string, (asked: Asked, ...names: string[]) => Answered][]),
    ['POST /proxy/vidu/text2video', startVideo],
    ['POST /proxy/vidu/extend', startVideo],
    ['GET /proxy/vidu/tasks/:id/creations', (_, id) => readVideo(id)],
    ['POST /admin/generate-token', () => [200, { token: 'admin.jwt', expires_at: '2026-01-01T01:00:00Z' }]],
    ['PUT /admin/nodes/:n', ({ body }, n) => [200, showNode(Object.assign(nodes.get(n) as Fields, body))]],
  ];

  const answer = (one: Asked, bytes: Buffer): Answered => {
    const written = `${one.path}?${one.query} ${JSON.stringify(one.body)}`;
    if (CONTRACT_WORDS.test(written))
      return [400, { message: `what is this: ${CONTRACT_WORDS.exec(written)?.[0]}` }];
    const file = /^\/(uploads|archives|results)\/(.+)$/.exec(one.path);
    if (file?.[1] === 'uploads') return upload(file[2] as string, bytes);
    if (file?.[1] === 'archives') return [200, archives.get(file[2] as string)];
    if (file) return [200, file[2]?.endsWith('.mp4') ? mp4 : png];
    const isPublish = /^POST \/publishers\/[^/]+\/nodes\/[^/]+\/versions$/.test(`${one.method} ${one.path}`);
    const isOpen =
      one.method === 'GET' && !one.path.startsWith('/proxy') && !/\/tokens|^\/users\//.test(one.path);
    if (
      !isPublish &&
      !isOpen &&
      one.path !== '/bulk/nodes/versions' &&
      one.headers.authorization !== 'Bearer me'
    )
      return [401];
    for (const [route, handle] of routes) {
      const [method, pattern = ''] = route.split(' ');
      const match = new RegExp(`^${pattern.replace(/:\w+/g, '([^/]+)')}$`).exec(one.path);
      if (method === one.method && match) return handle(one, ...match.slice(1).map(decodeURIComponent));
    }
    return missing;
  };

  const server = await listenOn(async (request, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const bytes = Buffer.concat(parts);
    const { pathname, searchParams } = new URL(request.url as string, 'http://comfy');
    const isJson = request.headers['content-type'] === 'application/json' && bytes.length > 0;
    const one: Asked = {
      method: request.method as string,
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: isJson ? JSON.parse(bytes.toString()) : {},
    };
    asked.push(one);
    const [status, body] = answer(one, bytes);
    const isFile = Buffer.isBuffer(body);
    response.writeHead(status, { 'content-type': isFile ? 'application/octet-stream' : 'application/json' });
    response.end(isFile ? body : body === undefined ? '' : JSON.stringify(body));
  });
  onTestFinished(server.close);
  const replaceArchives = (bytes: Buffer) => {
    for (const id of archives.keys()) archives.set(id, bytes);
  };
  const addArchive = (id: string, bytes: Buffer) => void archives.set(id, bytes);
  return { url: server.url, nodes, versions, asked, verdict, pat: PAT, replaceArchives, addArchive };
}
