import type { z } from 'zod';
import { getOperation } from '../../contract/index.js';
import { regen, say } from '../../contract/schema/message.js';
import type { CommandContext, Needs } from '../connect/context.js';
import { findJobIdentity, getIdentityToken, identityFlags } from '../publish/job-identity.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import { shellWord } from '../terminal/text.js';
import type { View } from '../views/view.js';
import { run as runOperation } from './operation.js';

export const view = (): View[] => [
  {
    usage: 'publisher trust add <publisherId>',
    operation: 'publisher.trust.add',
    module: 'publisher-trust',
    hide: ['claims'],
    flags: {
      '--claim <name=value>': {
        description: 'Another claim that the identity token must have (repeatable)',
        repeat: true,
      },
    },
    notes: ['Values are compared exactly. --nodes takes several ids, separated by commas.'],
    examples: [
      'regen publisher trust add my-team --issuer github --repository octo/light-tools --workflow release.yml',
      'regen publisher trust add my-team --issuer gitlab --repository octo/light-tools --workflow .gitlab-ci.yml --claim ref_protected=true --nodes light-tools',
    ],
  },
  {
    usage: 'publisher trust check <publisherId>',
    summary: 'Compare the identity of this CI job with the nearest trust of a publisher, claim by claim',
    flags: { ...identityFlags, '--node <nodeId>': 'Check it for this node, too' },
    shape: { items: 'claims', columns: ['claim', 'ok', 'wanted', 'got'] },
    examples: [
      'regen publisher trust check my-team',
      'regen publisher trust check my-team --id-token-file token.txt --node light-tools',
    ],
    answer: getOperation('publisher.trust.check').response as z.ZodType,
  },
];

export const run = { add: addTrust, check: checkTrust };

/** Puts the claims into the request as the contract has them. */
function addTrust(context: CommandContext): Promise<void> {
  const { command, flags } = context;
  const { claim, nodes } = flags as Readonly<Record<string, readonly string[] | undefined>>;
  const claims = Object.fromEntries((claim ?? []).map(parseClaim));
  const targeted = command.flags.map((flag) =>
    flag.name === 'claim' ? { ...flag, target: ['body', 'claims'], type: { type: 'object' } } : flag,
  );
  const given = {
    ...flags,
    claim: claim && JSON.stringify(claims),
    nodes: nodes?.flatMap((list) => list.split(',')),
  };
  return runOperation({ ...context, command: { ...command, flags: targeted }, flags: given });
}

function parseClaim(text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(`--claim must be a name and a value, such as ref_type=tag, not '${text}'.`);
}

type CheckContext = Needs<
  'args' | 'command' | 'flags' | 'system' | 'output' | 'signal' | 'connect' | 'services'
>;

async function checkTrust(context: CheckContext): Promise<number> {
  const { args, flags, output, services, signal, command } = context;
  const publisherId = args.publisherId as string;
  const service = await services.reach();
  const identity = findJobIdentity(context);
  if (!identity) throw identityMissing(publisherId);
  const token = await getIdentityToken(identity, flags, service);
  const nodes = flags.node === undefined ? undefined : [flags.node as string];
  const body = { token, ...(nodes && { nodes }) };
  const answer = await service.client.publisher.trust.check({ publisherId, body }, { signal });
  await output.answer(answer, command.shape);
  const { accepted, trust_id } = answer;
  const trust = trust_id === undefined ? publisherId : `The trust ${trust_id} of ${publisherId}`;
  await output.note(`${trust} ${accepted ? 'accepts' : 'does not accept'} ${identity.source}.`);
  return accepted ? exitCodes.done : exitCodes.notAllowed;
}

function identityMissing(publisherId: string): Failure {
  return new Failure('There is no identity of a CI job here.', {
    code: 'identity_unavailable',
    hint: say`In GitHub Actions, give the job the permission \`id-token: write\`; in GitLab, set REGEN_ID_TOKEN with id_tokens; or use: ${regen('publisher trust check', `${shellWord(publisherId)} --id-token-file token.txt`)}`,
  });
}
