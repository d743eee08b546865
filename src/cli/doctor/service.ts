import { type ClientError, NetworkError, ServiceError } from '../../client/errors.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { regen, say } from '../../contract/schema/message.js';
import type { Target } from '../../flows/tasks/task.js';
import { toFailure } from '../command/to-failure.js';
import type { Needs } from '../connect/context.js';
import { findLocal, listTroubles, OWNER_PATH } from '../connect/local.js';
import type { Service } from '../connect/services.js';
import { NAME_SERVICE, TOKEN_VARIABLES } from '../connect/settings.js';
import { describeExpiry } from '../connect/token-expiry.js';
import { exitCodes, SIGN_IN_HINT } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';
import { type Finding, fail, ok, warn } from './machine.js';

const REQUEST_TIMEOUT_MS = 5_000;
const MAX_SKEW_MS = 60_000;

type Reached = Pick<Service, 'client' | 'credential' | 'url'>;

/** Checks the service that commands use: whether it responds, its clock, and the credential. Starts nothing. */
export async function checkService(
  context: Needs<'system' | 'signal' | 'folders' | 'connect' | 'services'>,
): Promise<{ url?: string; findings: Finding[] }> {
  const { services, system } = context;
  const { target } = services;
  const service = target.baseUrl === undefined ? await findEmbedded(context) : await services.reach();
  const unused = findUnusedToken(system.env, target);
  if (!service) {
    const credential = unused ?? ok('credential', 'created by the embedded service');
    return { findings: [explainNotRunning(services.mayStart), credential] };
  }
  const asked = system.now();
  try {
    const { date, finding } = await checkAnswers(service, target.name, target.source);
    const clock = checkClock(date, (asked + system.now()) / 2);
    const engines = finding.status === 'ok' ? await checkEngines(service, target.baseUrl === undefined) : [];
    return {
      url: service.url,
      findings: [finding, ...engines, clock, unused ?? (await checkCredential(context, service))],
    };
  } catch (error) {
    const { message } = toFailure(error);
    const advice =
      error instanceof NetworkError && error.proxy
        ? 'Fix or unset the proxy variables, or add the host to NO_PROXY.'
        : `Check the address (from ${target.source}) and the network.`;
    return { url: service.url, findings: [fail('service', message, exitCodes.unreachable, advice)] };
  }
}

async function findEmbedded({
  connect,
  folders,
}: Needs<'folders' | 'connect'>): Promise<Reached | undefined> {
  const local = await findLocal(folders.data, connect, { timeoutMs: REQUEST_TIMEOUT_MS });
  return local && { url: local.url, client: local.client, credential: local.owner };
}

function explainNotRunning(mayStart: boolean): Finding {
  if (mayStart) return ok('service', 'local: not running; the first command starts it');
  return warn(
    'service',
    'local: not running, and autostart is turned off',
    say`Start it with: ${regen('serve', '--detach')}`,
  );
}

function findUnusedToken(env: System['env'], { source }: Target): Finding | undefined {
  const given = TOKEN_VARIABLES.find((name) => env[name]);
  if (!given || source !== 'default') return undefined;
  return warn('credential', `${given} is set, but no service is named`, NAME_SERVICE);
}

async function checkAnswers(
  { client, url }: Reached,
  name: string,
  source: string,
): Promise<{ date: string | undefined; finding: Finding }> {
  const get = createGet(client);
  const ready = await get('/ready');
  const text = await readAll(ready.body);
  const label = `${name === url ? '' : `${name}: `}${url}${source === 'default' ? '' : ` (from ${source})`}`;
  const date = ready.headers.date;
  if (ready.status === 503) {
    const finding = fail('service', `${label} is not ready`, exitCodes.unreachable, 'Try again later.');
    return { date, finding };
  }
  if (!(await isRegistry(get))) {
    const detail = `${label} responds, but not like a registry`;
    const advice = `Check the address (from ${source}); another program is listening there.`;
    return { date, finding: fail('service', detail, exitCodes.unreachable, advice) };
  }
  const isReady = ready.status === 200 && text.includes('ready') ? ', ready' : '';
  const version = await readApiVersion(get);
  return {
    date,
    finding: ok('service', `${label} responds${isReady}${version ? `, API version ${version}` : ''}`),
  };
}

type Get = (path: string) => ReturnType<Reached['client']['raw']>;

function createGet(client: Reached['client']): Get {
  return (path) => client.raw({ path, retries: 0, timeoutMs: REQUEST_TIMEOUT_MS });
}

/** What the vendors and ComfyUI of the service do not do, which it says to its owner only. */
async function checkEngines({ client, credential }: Reached, isEmbedded: boolean): Promise<Finding[]> {
  const troubles = credential ? listTroubles(await readJson(createGet(client), OWNER_PATH)) : [];
  // Another service has its log where its operator put it.
  const log = isEmbedded ? say`\`${regen('serve logs')}\`` : 'the log of the service';
  const advice = say`Tasks for it wait until it can be used. Check its settings in the configuration of the service; ${log} has more.`;
  return troubles.map((trouble) => warn('engines', trouble, advice));
}

/** A service without our extensions is recognised by its list of nodes. */
async function isRegistry(get: Get): Promise<boolean> {
  if ((await readJson(get, '/health')).status === 'ok') return true;
  return Array.isArray((await readJson(get, '/nodes?limit=1')).nodes);
}

async function readApiVersion(get: Get): Promise<string | undefined> {
  const { info } = await readJson(get, '/openapi.json');
  return isRecord(info) && typeof info.version === 'string' ? info.version : undefined;
}

/** The fields of a JSON answer; none if it is another one. */
async function readJson(get: Get, path: string): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await get(path);
  const value = parseJson(await readAll(body));
  return status === 200 && isRecord(value) ? value : {};
}

export function checkClock(date: string | undefined, now: number): Finding {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return ok('clock', 'the service does not report its time');
  const seconds = Math.round((now - theirs) / 1000);
  if (Math.abs(seconds) * 1000 <= MAX_SKEW_MS) return ok('clock', 'in sync with the service');
  const detail = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service`;
  return warn('clock', detail, 'Synchronise the clock; tokens and signatures depend on it.');
}

async function checkCredential(
  { signal, system }: Needs<'signal' | 'system'>,
  { client, credential }: Reached,
): Promise<Finding> {
  if (!credential) {
    return warn('credential', 'none; only public data is available', SIGN_IN_HINT);
  }
  const from = `from ${credential.source}`;
  try {
    const me = await client.user.me({}, { retries: 0, timeoutMs: REQUEST_TIMEOUT_MS, signal });
    const ends = me.credential.expires_at ? `, until ${me.credential.expires_at}` : '';
    const detail = `${me.email ?? me.name ?? me.id}, ${from}${ends}`;
    const warning = describeExpiry(me.credential, credential.source, system.now());
    return warning ? warn('credential', detail, warning) : ok('credential', detail);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) {
      return ok('credential', `${from}; the service does not report its user`);
    }
    const refused = error instanceof ServiceError && (error.status === 401 || error.status === 403);
    const exit = refused ? exitCodes.notAllowed : exitCodes.unreachable;
    const advice = refused ? SIGN_IN_HINT : 'Try again later.';
    return fail('credential', `${from}: ${(error as ClientError).message}`, exit, advice);
  }
}
