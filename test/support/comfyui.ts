import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { onTestFinished } from 'vitest';
import { mp4 } from './generation-double.js';

// A strict stand-in of ComfyUI's server, written from answers of 0.3.64 and 0.33.0. It runs a few of the core nodes.

export type ComfyUiVersion = '0.3.64' | '0.33.0';

// biome-ignore lint/suspicious/noExplicitAny: what a graph holds is for the test to assert
type Graph = Record<string, { class_type: string; inputs: any }>;

/** One entry of the queue. */
export interface ComfyUiPrompt {
  readonly number: number;
  readonly id: string;
  readonly graph: Graph;
}

type Reply =
  | {
      readonly status: number;
      readonly type?: string;
      readonly body: string | object;
      /** Where it redirects to. */
      readonly location?: string;
    }
  | 'hang up';

interface ComfyUiOptions {
  readonly version?: ComfyUiVersion;
  /** Whether what is asked for runs at once. Default true; otherwise `run` runs it. */
  readonly runs?: boolean;
  /** Whether the answer to the n-th prompt is lost, before or after it is taken. */
  readonly loses?: (count: number) => 'before' | 'after' | undefined;
  /** What answers in place of ComfyUI. */
  readonly instead?: (path: string, count: number) => Reply | undefined;
  /** Nodes that it does not have. */
  readonly without?: readonly string[];
  /** What a result is sent as. */
  readonly send?: (file: Buffer, count: number) => { readonly bytes: Buffer; readonly length?: number };
  /** Classes of nodes whose work fails. */
  readonly fails?: readonly string[];
}

const IMAGE = ['IMAGE', {}];
const FLOAT = (min: number, max: number) => ['FLOAT', { default: 1, min, max, step: 0.01 }];
const INT = (min: number, max: number) => ['INT', { default: 1, min, max, step: 1 }];
const METHODS = ['nearest-exact', 'bilinear', 'area', 'bicubic', 'lanczos'];
/** As older nodes and newer ones describe choices. */
const LIST = (...options: string[]) => [options, {}];
const COMBO = (...options: string[]) => ['COMBO', { options, multiselect: false }];
const PREFIX = ['STRING', { default: 'ComfyUI' }];

type Inputs = Record<string, unknown[]>;

/** The required inputs of each class. */
const CLASSES: Readonly<Record<string, Inputs>> = {
  LoadImage: { image: [['example.png'], { image_upload: true }] },
  ImageScaleBy: { image: IMAGE, upscale_method: LIST(...METHODS), scale_by: FLOAT(0.01, 8) },
  ImageScale: {
    ...{ image: IMAGE, upscale_method: LIST(...METHODS), crop: LIST('disabled', 'center') },
    ...{ width: INT(0, 16_384), height: INT(0, 16_384) },
  },
  ImageBlend: {
    ...{ image1: IMAGE, image2: IMAGE, blend_factor: FLOAT(0, 1) },
    blend_mode: COMBO('normal', 'multiply', 'screen', 'overlay', 'soft_light', 'difference'),
  },
  ImageBlur: { image: IMAGE, blur_radius: INT(1, 31), sigma: FLOAT(0.1, 10) },
  ImageSharpen: { image: IMAGE, sharpen_radius: INT(1, 31), sigma: FLOAT(0.1, 10), alpha: FLOAT(0, 5) },
  PaidImage: { image: IMAGE },
  StringNode: { text: ['STRING', { multiline: true }], seed: INT(0, 2 ** 53) },
  SaveImage: { images: IMAGE, filename_prefix: PREFIX },
  PreviewImage: { images: IMAGE },
  CreateVideo: { images: IMAGE, fps: FLOAT(1, 120) },
  SaveVideo: { video: ['VIDEO', {}], filename_prefix: PREFIX, format: COMBO('auto', 'mp4') },
};
const OUTPUTS = ['SaveImage', 'PreviewImage', 'SaveVideo', 'StringNode'];

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

interface NodeError {
  readonly type: string;
  readonly message: string;
  readonly details: string;
  readonly extra_info: object;
}

export interface ComfyUi {
  readonly url: string;
  /** What was taken into the queue, in order. */
  readonly taken: ComfyUiPrompt[];
  /** The ids of what ran to its end. */
  readonly ran: string[];
  /** Paths of requests: `POST /prompt`. */
  readonly asked: string[];
  readonly interrupted: string[];
  readonly uploads: Map<string, Buffer>;
  readonly pending: readonly ComfyUiPrompt[];
  readonly running: readonly ComfyUiPrompt[];
  /** Takes the next prompt out of the queue, and leaves it running. */
  begin(): void;
  /** Ends what runs, and runs all that waits. */
  run(): Promise<void>;
  /** What `kill -9` and a start do: the queue, the history and the numbers are gone, files stay. */
  restart(): void;
  /** Stops listening. */
  stop(): Promise<void>;
  /** Listens again at the same address, after a restart. */
  start(): Promise<void>;
}

export async function startComfyUi(options: ComfyUiOptions = {}): Promise<ComfyUi> {
  const { version = '0.33.0', runs = true, without = [], fails = [] } = options;
  const isNew = version === '0.33.0';
  const [taken, ran, asked, interrupted]: [ComfyUiPrompt[], string[], string[], string[]] = [[], [], [], []];
  const uploads = new Map<string, Buffer>();
  const outputs = new Map<string, Buffer>();
  const counts = new Map<string, number>();
  let pending: ComfyUiPrompt[] = [];
  let running: ComfyUiPrompt[] = [];
  let history = new Map<string, object>();
  let number = 0;
  let files = 0;
  const classes = Object.fromEntries(Object.entries(CLASSES).filter(([name]) => !without.includes(name)));

  const server = createServer((request, response) => {
    answer(request, response).catch(() =>
      send(response, 500, '500 Internal Server Error\n\nServer got itself in trouble'),
    );
  });
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  onTestFinished(async () => {
    if (server.listening) await stop();
  });
  const url = `http://127.0.0.1:${port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', headers } = request;
    const { pathname: path, searchParams } = new URL(request.url ?? '/', url);
    if (headers.origin && new URL(headers.origin).host !== headers.host) return send(response, 403, '');
    const name = `${method} ${path}`;
    asked.push(name);
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    const bytes = await readBytes(request);
    const other = options.instead?.(path, count);
    if (other === 'hang up') return void response.destroy();
    if (other?.location) response.setHeader('location', other.location);
    if (other) return send(response, other.status, other.body, other.type);
    if (name === 'POST /prompt') return takePrompt(bytes, response);
    if (name === 'POST /upload/image') return upload(headers['content-type'] ?? '', bytes, response);
    if (name === 'GET /queue')
      return send(response, 200, {
        queue_running: running.map(listPrompt),
        queue_pending: [...pending].reverse().map(listPrompt),
      });
    if (name === 'POST /queue') {
      const { delete: ids = [], clear } = JSON.parse(bytes.toString());
      if (clear) throw new Error('This would empty the queue of others.');
      pending = pending.filter(({ id }) => !ids.includes(id));
      return send(response, 200, '');
    }
    if (name === 'POST /interrupt') {
      const { prompt_id } = JSON.parse(bytes.toString());
      interrupted.push(prompt_id ?? 'whatever runs');
      for (const prompt of running.filter(({ id }) => id === prompt_id))
        end(prompt, [['execution_interrupted', { prompt_id }]]);
      return send(response, 200, '');
    }
    const [, kind, id = ''] = /^\/(history|object_info)(?:\/(.+))?$/.exec(path) ?? [];
    if (kind === 'history') {
      const entry = history.get(id);
      return send(response, 200, entry ? { [id]: entry } : {});
    }
    if (kind === 'object_info') {
      const found = classes[decodeURIComponent(id)];
      return send(
        response,
        200,
        found ? { [decodeURIComponent(id)]: describeClass(decodeURIComponent(id), found) } : {},
      );
    }
    if (name === 'GET /system_stats')
      return send(response, 200, { system: { comfyui_version: version }, devices: [] });
    if (name === 'GET /view') return view(searchParams, response);
    send(response, 404, '404: Not Found');
  }

  function takePrompt(bytes: Buffer, response: ServerResponse) {
    const { prompt, prompt_id, client_id, ...others } = JSON.parse(bytes.toString());
    if (Object.keys(others).length > 0) throw new Error(`No one should send ${Object.keys(others)}.`);
    if (typeof prompt !== 'object' || typeof client_id !== 'string') throw new Error('This is not a prompt.');
    number += 1;
    const refuse = (type: string, message: string, extra_info = {}, node_errors = {}) =>
      send(response, 400, {
        error: { type, message, details: '/srv/ComfyUI/execution.py', extra_info },
        node_errors,
      });
    if (isNew && !UUID.test(prompt_id)) return refuse('invalid_prompt_id', 'prompt_id must be a valid UUID');
    const [missing] = Object.entries(prompt as Graph).filter(([, { class_type }]) => !classes[class_type]);
    if (missing) {
      const [node_id, { class_type }] = missing;
      const message = `Node '${class_type}' not found. The custom node may not be installed.`;
      return isNew
        ? refuse('missing_node_type', message, { node_id, class_type, node_title: class_type })
        : refuse('invalid_prompt', `Cannot execute because node ${class_type} does not exist.`);
    }
    const errors = checkGraph(prompt);
    const ends = Object.keys(prompt).filter((id) => OUTPUTS.includes(prompt[id].class_type));
    if (ends.length === 0) return refuse('prompt_no_outputs', 'Prompt has no outputs');
    const isValid = ends.some((id) => !Object.keys(errors).some((node) => leadsTo(prompt, node, id)));
    if (!isValid)
      return refuse('prompt_outputs_failed_validation', 'Prompt outputs failed validation', {}, errors);
    const lost = options.loses?.(counts.get('/prompt') as number);
    if (lost === 'before') return void response.destroy();
    // It does not look whether it has this id already.
    const one = { number, id: prompt_id ?? randomUUID(), graph: prompt };
    taken.push(one);
    pending.push(one);
    if (lost === 'after') response.destroy();
    else send(response, 200, { prompt_id: one.id, number, node_errors: errors });
    if (runs) void run();
  }

  function checkGraph(graph: Graph): Record<string, object> {
    const errors: Record<string, object> = {};
    for (const [id, { class_type, inputs }] of Object.entries(graph)) {
      const found = Object.entries(classes[class_type] as Inputs).flatMap(([name, form]) =>
        checkInput(name, form, inputs[name], graph),
      );
      if (found.length > 0) errors[id] = { errors: found, dependent_outputs: [], class_type };
    }
    return errors;
  }

  function checkInput(name: string, [type, given]: unknown[], value: unknown, graph: Graph): NodeError[] {
    const fail = (kind: string, message: string) => [
      { type: kind, message, details: `${name} in /srv/ComfyUI/nodes.py`, extra_info: { input_name: name } },
    ];
    if (value === undefined) return fail('required_input_missing', 'Required input is missing');
    if (Array.isArray(value)) return graph[value[0]] ? [] : fail('bad_linked_input', 'Bad linked input');
    const { min, max, options: listed, image_upload } = given as Record<string, never>;
    if (image_upload)
      return uploads.has(String(value))
        ? []
        : fail('custom_validation_failed', `image - Invalid image file: ${value}`);
    const choices = Array.isArray(type) ? type : listed;
    if (choices)
      return (choices as unknown[]).includes(value) ? [] : fail('value_not_in_list', 'Value not in list');
    if (type === 'STRING')
      return typeof value === 'string' ? [] : fail('invalid_input_type', 'Failed to convert an input value');
    if (typeof value !== 'number') return fail('invalid_input_type', 'Failed to convert an input value');
    if (value < Number(min))
      return fail('value_smaller_than_min', `Value ${value} smaller than min of ${min}`);
    return value > Number(max)
      ? fail('value_bigger_than_max', `Value ${value} bigger than max of ${max}`)
      : [];
  }

  const leadsTo = (graph: Graph, from: string, to: string): boolean =>
    from === to ||
    Object.values(graph[to]?.inputs ?? {}).some(
      (link) => Array.isArray(link) && leadsTo(graph, from, link[0]),
    );

  function begin(): void {
    const next = pending.shift();
    if (next) running.push(next);
  }

  async function run(): Promise<void> {
    for (;;) {
      if (running.length === 0) begin();
      const [one] = running;
      if (!one) return;
      await execute(one);
    }
  }

  async function execute(one: ComfyUiPrompt): Promise<void> {
    const failing = Object.entries(one.graph).find(([, { class_type }]) => fails.includes(class_type));
    if (failing) {
      const [node_id, { class_type: node_type }] = failing;
      const exception_message =
        "cannot identify image file '/srv/ComfyUI/input/regen/a b.png' at C:\\ComfyUI\\x.py";
      const details = { node_id, node_type, exception_message, exception_type: 'PIL.UnidentifiedImageError' };
      return end(one, [['execution_error', { ...details, traceback: ['File "/srv/ComfyUI/execution.py"'] }]]);
    }
    const made: Record<string, object> = {};
    for (const [id, { class_type, inputs }] of Object.entries(one.graph)) {
      if (!OUTPUTS.includes(class_type) || class_type === 'StringNode') continue;
      const type = class_type === 'PreviewImage' ? 'temp' : 'output';
      const prefix = String(inputs.filename_prefix ?? 'ComfyUI_temp').split('/');
      files += 1;
      const ext = class_type === 'SaveVideo' ? 'mp4' : 'png';
      const filename = `${prefix.pop()}_${String(files).padStart(5, '0')}_.${ext}`;
      const subfolder = prefix.join('/');
      const picture =
        class_type === 'SaveVideo' ? mp4 : addText(await draw(one.graph, inputs.images[0]), one.graph);
      outputs.set(`${type}/${subfolder}/${filename}`, picture);
      made[id] = { images: [{ filename, subfolder, type }], ...(ext === 'mp4' && { animated: [true] }) };
    }
    // A restart may have ended it.
    if (!running.includes(one)) return;
    ran.push(one.id);
    end(one, [['execution_success', { prompt_id: one.id }]], made);
  }

  function end(one: ComfyUiPrompt, messages: unknown[], made: object = {}): void {
    running = running.filter((other) => other !== one);
    const isDone = (messages as string[][])[0]?.[0] === 'execution_success';
    history.set(one.id, {
      prompt: listPrompt(one),
      outputs: made,
      status: { status_str: isDone ? 'success' : 'error', completed: isDone, messages },
      meta: {},
    });
  }

  async function draw(graph: Graph, id: string): Promise<Buffer> {
    const { class_type, inputs } = graph[id] as Graph[string];
    if (class_type === 'LoadImage') return uploads.get(inputs.image) as Buffer;
    const source = await draw(graph, (inputs.image ?? inputs.image1)[0]);
    if (class_type !== 'ImageScaleBy') return source;
    const { width = 1, height = 1 } = await sharp(source).metadata();
    return sharp(source)
      .resize(width * inputs.scale_by, height * inputs.scale_by, { fit: 'fill' })
      .png()
      .toBuffer();
  }

  function upload(type: string, bytes: Buffer, response: ServerResponse) {
    const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(type)?.[1];
    if (!boundary) return send(response, 400, '');
    const parts = bytes.toString('latin1').split(`--${boundary}`).slice(1, -1);
    const fields = new Map(
      parts.map((part) => {
        const [head = '', ...rest] = part.split('\r\n\r\n');
        return [
          / name="(\w+)"/.exec(head)?.[1],
          { head, body: Buffer.from(rest.join('\r\n\r\n').slice(0, -2), 'latin1') },
        ];
      }),
    );
    const image = fields.get('image');
    const filename = /filename="([^"]+)"/.exec(image?.head ?? '')?.[1];
    if (!image || !filename) return send(response, 400, '');
    const subfolder = fields.get('subfolder')?.body.toString() ?? '';
    const place = (name: string) => (subfolder ? `${subfolder}/${name}` : name);
    let name = filename;
    for (let at = 1; uploads.has(place(name)) && !uploads.get(place(name))?.equals(image.body); at += 1)
      name = filename.replace(/(\.\w+)$/, ` (${at})$1`);
    uploads.set(place(name), image.body);
    send(response, 200, { name, subfolder, type: 'input' });
  }

  function view(query: URLSearchParams, response: ServerResponse) {
    const file = outputs.get(
      `${query.get('type') ?? 'output'}/${query.get('subfolder') ?? ''}/${query.get('filename')}`,
    );
    if (!file) return send(response, 404, '');
    const { bytes, length = bytes.length } = options.send?.(file, counts.get('/view') as number) ?? {
      bytes: file,
    };
    const type = query.get('filename')?.endsWith('.mp4') ? 'video/mp4' : 'image/png';
    response.writeHead(200, { 'content-type': type, 'content-length': length, etag: '"1"' });
    if (length > bytes.length) response.write(bytes, () => response.destroy());
    else response.end(bytes);
  }

  const restart = () => {
    [pending, running, history, number] = [[], [], new Map(), 0];
  };
  return {
    ...{ url, taken, ran, asked, interrupted, uploads, begin, run, restart, stop },
    start: async () => {
      restart();
      await listen(port);
    },
    get pending() {
      return pending;
    },
    get running() {
      return running;
    },
  };
}

const listPrompt = ({ number, id, graph }: ComfyUiPrompt) => [number, id, graph, {}, []];

function describeClass(name: string, required: Inputs): object {
  return {
    input: { required, hidden: { prompt: 'PROMPT' } },
    ...{ name, output: [], output_node: OUTPUTS.includes(name), python_module: 'nodes' },
    ...(name === 'PaidImage' && { api_node: true }),
  };
}

/** Puts the graph into a PNG, as ComfyUI does. */
function addText(png: Buffer, graph: Graph): Buffer {
  const data = Buffer.from(`prompt\0${JSON.stringify(graph)}`, 'latin1');
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write('tEXt', 4);
  // Behind the signature and the header of the image; the sum is not checked.
  return Buffer.concat([png.subarray(0, 33), head, data, Buffer.alloc(4), png.subarray(33)]);
}

function send(response: ServerResponse, status: number, body: string | object, type?: string): void {
  const isText = typeof body === 'string';
  response
    .writeHead(status, { 'content-type': type ?? (isText ? 'text/plain' : 'application/json') })
    .end(isText ? body : JSON.stringify(body));
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}
