import { NetworkError } from '../../client/errors.js';
import { isRecord, parseJson } from '../../contract/json.js';
import { readBody } from '../../wire/read-body.js';
import { type FlagValues, readText } from '../command/command.js';
import type { Flags } from '../command/flags.js';
import { parseToken, readTokenFile } from '../connect/choose-credential.js';
import type { Needs } from '../connect/context.js';
import type { Service } from '../connect/services.js';
import { isNamed, NAME_SERVICE, trimSlash } from '../connect/settings.js';
import { isSameAddress } from '../sign-in/discovery.js';
import { readAudience } from '../sign-in/tokens.js';
import { Failure, usage } from '../terminal/failure.js';

type Context = Needs<'flags' | 'system' | 'services' | 'connect' | 'signal'>;

/** The identity of the CI job that the command runs in. */
export interface JobIdentity {
  readonly source: string;
  /** Whether each call of `getToken` gets another token. */
  readonly isRenewable: boolean;
  /** @param audience whom the token is for */
  getToken(audience: string): Promise<string>;
}

export const identityFlags: Flags = {
  '--id-token-file <path>': 'File with the identity token of a CI job, or - for standard input',
  '--audience <text>': 'Audience of the identity token (default: the address of the service)',
};

/** Finds the identity: --id-token-file, REGEN_ID_TOKEN, or that of GitHub Actions. The variables are for a named service. */
export function findJobIdentity(context: Context): JobIdentity | undefined {
  const { flags, system, services } = context;
  const file = readText(flags, 'id-token-file');
  if (file !== undefined) {
    return {
      source: `the identity in ${file === '-' ? 'standard input' : file}`,
      isRenewable: false,
      getToken: () => readTokenFile(system, file, '--id-token-file'),
    };
  }
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = system.env;
  if (!isNamed(services.target)) {
    if (!url || !token) return undefined;
    throw usage('The job may ask for an identity to publish with, and no service is named.', NAME_SERVICE);
  }
  const given = system.env.REGEN_ID_TOKEN?.trim();
  if (given) {
    const getToken = () => parseToken(given, 'REGEN_ID_TOKEN');
    return { source: 'the identity in REGEN_ID_TOKEN', isRenewable: false, getToken };
  }
  if (!url || !token) return undefined;
  return {
    source: 'the identity of GitHub Actions',
    isRenewable: true,
    getToken: (audience) => askRunner(context, { url, token, audience }),
  };
}

const MAX_ANSWER_BYTES = 256 * 1024;

/** Asks the runner of GitHub Actions for an identity token. */
async function askRunner(
  { connect, signal }: Context,
  { url, token, audience }: { readonly url: string; readonly token: string; readonly audience: string },
): Promise<string> {
  if (!URL.canParse(url)) throw usage('ACTIONS_ID_TOKEN_REQUEST_URL is not an address.');
  const { origin, pathname, searchParams } = new URL(url);
  const runner = await connect(origin, token);
  const query = { ...Object.fromEntries(searchParams), audience };
  const { status, body } = await runner.raw({ path: pathname, query, signal });
  const answer = parseJson((await readBody(body, MAX_ANSWER_BYTES)).toString());
  if (status === 200 && isRecord(answer) && typeof answer.value === 'string') return answer.value;
  throw new Failure(`GitHub Actions gave no identity token (status ${status}).`, {
    code: 'identity_unavailable',
    hint: 'Give the job the permission `id-token: write`, and try again.',
  });
}

/**
 * Gets an identity token for a service.
 * @throws Failure if it is for another one, which could use it there
 */
export async function getIdentityToken(
  identity: JobIdentity,
  flags: FlagValues,
  { url }: Pick<Service, 'url'>,
): Promise<string> {
  const audience = readText(flags, 'audience') ?? trimSlash(url);
  const token = await identity.getToken(audience);
  if (token === '') throw usage(`There is no token in ${identity.source}.`);
  const others = (await readAudience(token))?.filter((one) => !isSameAddress(one, audience)) ?? [];
  if (others.length === 0) return token;
  throw new Failure(
    `The identity token is for ${others.join(' and ')} instead of ${audience}; it was not sent.`,
    {
      code: 'wrong_audience',
      hint: 'Request it for the address of the service. If the service asks for another audience, pass it with --audience.',
    },
  );
}

/** Exchanges the identity for a personal access token of a publisher. */
export async function exchangeIdentity(
  { flags, connect, services, signal }: Context,
  identity: JobIdentity,
  service: Pick<Service, 'url'>,
  subject: { readonly publisherId: string; readonly nodes: readonly string[] },
): Promise<string> {
  const { publisherId } = subject;
  const client = await connect(service.url, undefined, services.target);
  const exchange = async () => {
    const token = await getIdentityToken(identity, flags, service);
    const body = { token, nodes: [...subject.nodes] };
    return (await client.publisher.trust.exchange({ publisherId, body }, { signal })).token;
  };
  try {
    return await exchange();
  } catch (error) {
    // The answer may have been lost, and the token can be exchanged only once.
    if (!identity.isRenewable || signal.aborted || !(error instanceof NetworkError)) throw error;
    return exchange();
  }
}
