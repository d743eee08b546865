import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { mp4, png } from './generation-double.js';
import { listenOn } from './listen.js';

// Strict stand-ins of vendors with few routes, written from their documentation (docs/vendors.md): any other route,
// header or body is refused.

// biome-ignore lint/suspicious/noExplicitAny: what a body holds is for the test to assert
type Body = any;

interface Answer {
  readonly status?: number;
  readonly body: object;
}

interface OtherVendor {
  readonly header: readonly [name: string, value: string];
  /** @returns undefined if there is no such route; its URLs begin with `url` */
  answer(asked: { method: string; path: string; body: Body; url: string }): Answer | undefined;
}

export async function startOtherVendor({ header: [name, value], answer }: OtherVendor) {
  const requests: string[] = [];
  const { url, close } = await listenOn(async (asked, response) => {
    const { method = 'GET', url: path = '/', headers } = asked;
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part);
    if (path.startsWith('/files/')) {
      const [file, type] = path.endsWith('.mp4') ? [mp4, 'video/mp4'] : [png, 'image/png'];
      response.writeHead(200, { 'content-type': type }).end(file);
      return;
    }
    requests.push(`${method} ${path}`);
    const send = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (headers[name] !== value) return send(401, { detail: 'Unauthenticated' });
    const text = Buffer.concat(parts).toString();
    const found = answer({ method, path, body: text === '' ? undefined : JSON.parse(text), url });
    send(found?.status ?? (found ? 200 : 404), found?.body ?? { detail: 'Not found' });
  });
  onTestFinished(close);
  return { url, key: 'secret', requests };
}

const isDataUrl = (value: unknown) => /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/.test(String(value));
const hasKeys = (body: object, keys: string) => Object.keys(body).sort().join() === keys;

/** fal's queue: an answer for a status is 202 until the task is done, and its result is elsewhere. */
export function createFal({ result }: { readonly result?: Answer } = {}): OtherVendor {
  const looks = new Map<string, number>();
  return {
    header: ['authorization', 'Key secret'],
    answer: ({ method, path, body, url }) => {
      if (method === 'POST') {
        const isUpscaler = path === '/fal-ai/clarity-upscaler';
        const isVideo = path === '/fal-ai/vidu/q1/image-to-video';
        if (!isUpscaler && !isVideo) return undefined;
        const isKnown = isUpscaler
          ? hasKeys(body, 'image_url,upscale_factor') && body.upscale_factor >= 1 && body.upscale_factor <= 4
          : hasKeys(body, 'image_url,prompt,seed') && Number.isInteger(body.seed);
        if (!isKnown || !isDataUrl(body.image_url))
          return { status: 422, body: { detail: [{ loc: ['body'], msg: 'Invalid', type: 'value_error' }] } };
        const request_id = randomUUID();
        looks.set(request_id, 0);
        return { body: { request_id, status: 'IN_QUEUE' } };
      }
      const [, app = '', id = '', verb] =
        /^\/(fal-ai\/(?:clarity-upscaler|vidu))\/requests\/([\w-]+)(\/status|\/cancel)?$/.exec(path) ?? [];
      const count = looks.get(id);
      if (count === undefined) return undefined;
      if (verb === '/cancel' && method === 'PUT')
        return { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
      if (method !== 'GET') return undefined;
      if (verb === undefined) {
        const file = app.endsWith('vidu')
          ? { video: { url: `${url}/files/a.mp4` } }
          : { image: { url: `${url}/files/a.png` } };
        return result ?? { body: file };
      }
      looks.set(id, count + 1);
      return count < 2
        ? { status: 202, body: { status: count === 0 ? 'IN_QUEUE' : 'IN_PROGRESS' } }
        : { body: { status: 'COMPLETED' } };
    },
  };
}

/** Replicate's predictions: the input is one field, and the output a list or one URL. */
export function createReplicate({ error }: { readonly error?: string } = {}): OtherVendor {
  const looks = new Map<string, number>();
  return {
    header: ['authorization', 'Bearer secret'],
    answer: ({ method, path, body, url }) => {
      if (method === 'POST' && path === '/v1/predictions') {
        const isKnown = hasKeys(body, 'input,version,webhook') && hasKeys(body.input, 'image,scale_factor');
        if (!isKnown || !(isDataUrl(body.input.image) || body.input.image.startsWith('http')))
          return { status: 422, body: { detail: 'Input validation failed' } };
        const id = randomUUID();
        looks.set(id, 0);
        return { status: 201, body: { id, status: 'starting', output: null, error: null } };
      }
      const id = /^\/v1\/predictions\/([\w-]+)$/.exec(path)?.[1] ?? '';
      const count = looks.get(id);
      if (method !== 'GET' || count === undefined) return undefined;
      looks.set(id, count + 1);
      if (count < 1) return { body: { id, status: 'processing', output: null, error: null } };
      if (error) return { body: { id, status: 'failed', output: null, error } };
      return { body: { id, status: 'succeeded', output: [`${url}/files/a.png`], error: null } };
    },
  };
}

/** OpenAI's edits of images: the answer has the picture. */
export function createOpenAi({ refusal }: { readonly refusal?: Answer } = {}): OtherVendor {
  return {
    header: ['authorization', 'Bearer secret'],
    answer: ({ method, path, body }) => {
      if (method !== 'POST' || path !== '/v1/images/edits') return undefined;
      const images = Array.isArray(body.images) ? body.images : [];
      const isKnown =
        hasKeys(body, 'images,model,prompt') &&
        images.length > 0 &&
        images.every((one: Body) => hasKeys(one, 'image_url') && isDataUrl(one.image_url)) &&
        typeof body.prompt === 'string';
      if (!isKnown) return { status: 400, body: { error: { code: 'invalid_value', message: 'Invalid' } } };
      return refusal ?? { body: { created: 1, data: [{ b64_json: png.toString('base64') }] } };
    },
  };
}
