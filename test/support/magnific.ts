import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { png } from './generation-double.js';
import { listenOn } from './listen.js';

// A strict stand-in of Magnific's API, written from docs.freepik.com (docs.magnific.com today): fields that a route does not
// have are refused with `invalid_params`.

const routes: Readonly<Record<string, readonly string[]>> = {
  '/v1/ai/image-relight': [
    ...['image', 'prompt', 'transfer_light_from_reference_image', 'transfer_light_from_lightmap'],
    ...[
      'light_transfer_strength',
      'interpolate_from_original',
      'change_background',
      'style',
      'preserve_details',
    ],
    ...['advanced_settings', 'webhook_url'],
  ],
  '/v1/ai/image-style-transfer': [
    ...['image', 'reference_image', 'prompt', 'style_strength', 'structure_strength', 'is_portrait'],
    ...['portrait_style', 'portrait_beautifier', 'flavor', 'engine', 'fixed_generation', 'webhook_url'],
  ],
  '/v1/ai/skin-enhancer/creative': ['image', 'sharpen', 'smart_grain', 'webhook_url'],
  '/v1/ai/image-upscaler-precision-v2': [
    ...['image', 'sharpen', 'smart_grain', 'ultra_detail', 'flavor', 'scale_factor', 'webhook_url'],
  ],
};

export interface MagnificTask {
  readonly id: string;
  readonly route: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a body holds is for the test to assert
  readonly body: any;
  looks: number;
  /** Replaces the states of the options. */
  state?: string;
}

interface MagnificOptions {
  /** Style transfer answers without `data`, with `task_status`, as an older page has it. */
  readonly isLegacy?: boolean;
  readonly states?: readonly string[];
  readonly header?: string;
  /** Called once a task is made, before its start is answered. */
  readonly onMade?: (task: MagnificTask) => void | Promise<void>;
}

export async function startMagnific(options: MagnificOptions = {}) {
  const { header = 'x-magnific-api-key', states = ['CREATED', 'IN_PROGRESS', 'COMPLETED'] } = options;
  const key = 'FPSX-secret';
  const tasks = new Map<string, MagnificTask>();
  const { url, close } = await listenOn(async (asked, response) => {
    const send = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { pathname } = new URL(asked.url ?? '/', 'http://vendor');
    if (pathname.startsWith('/files/')) {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': png.length }).end(png);
      return;
    }
    if (asked.headers[header] !== key || asked.headers.authorization)
      return send(401, { message: 'Invalid API key' });
    const view = (task: MagnificTask, status: string) => {
      const generated = status === 'COMPLETED' ? [`${url}/files/${task.id}.png`] : [];
      const isLegacy = options.isLegacy && task.route.includes('style');
      return isLegacy
        ? { task_id: task.id, task_status: status, generated }
        : { data: { task_id: task.id, status, generated } };
    };
    const fields = routes[pathname];
    if (asked.method === 'POST' && fields) {
      const parts: Buffer[] = [];
      for await (const part of asked) parts.push(part);
      const body = JSON.parse(Buffer.concat(parts).toString());
      const unknown = Object.keys(body).filter((name) => !fields.includes(name));
      const invalid = unknown.map((name) => ({ name, reason: 'is not expected' }));
      if (!/^[A-Za-z0-9+/]+=*$/.test(body.image))
        invalid.push({ name: 'image', reason: 'must be Base64 or a URL' });
      if (invalid.length > 0)
        return send(400, { message: "Your request parameters didn't validate.", invalid_params: invalid });
      const task: MagnificTask = { id: randomUUID(), route: pathname, body, looks: 0 };
      tasks.set(task.id, task);
      await options.onMade?.(task);
      return send(200, view(task, 'CREATED'));
    }
    const [, route = '', id = ''] = /^(.*)\/([^/]+)$/.exec(pathname) ?? [];
    const task = tasks.get(id);
    const isRoute = task && (task.route === route || task.route === `${route}/creative`);
    if (asked.method !== 'GET' || !isRoute) return send(404, { message: 'Not found' });
    task.looks += 1;
    send(200, view(task, task.state ?? (states[Math.min(task.looks - 1, states.length - 1)] as string)));
  });
  onTestFinished(close);
  /** Calls the callback of a task with a status. */
  const call = async ({ id, body }: MagnificTask, status: string): Promise<number> => {
    const generated = status === 'COMPLETED' ? [`${url}/files/${id}.png`] : [];
    const { status: answered } = await fetch(body.webhook_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'webhook-signature': 'v1,unused' },
      body: JSON.stringify({ task_id: id, status, generated }),
    });
    return answered;
  };
  return { url, key, tasks, call };
}
