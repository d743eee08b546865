import { z } from 'zod';
import { SecureUrl } from '../network/secure-url.js';
import { algorithms } from './issuer-settings.js';

const CLAIMS = {
  repository: 'The claim with the repository',
  workflow: 'The claim with the workflow',
  environment: 'The claim with the environment of the job',
  ref: 'The claim with the branch or tag',
  commit: 'The claim with the commit',
  run: 'The claim with the id of the run',
  event: 'The claim with what started the run',
} as const;

type ClaimNames = { readonly [Name in keyof typeof CLAIMS]?: string | undefined };

interface Kind {
  readonly issuer?: string;
  readonly claims: ClaimNames;
  readonly ids: readonly string[];
  readonly refusedEvents: readonly string[];
  /** What stands between the repository and the file in the claim with the workflow. */
  readonly folder?: string;
}

// Decided: refused are the events that run a stranger's code with the rights of the repository.
const KINDS: Readonly<Record<'github' | 'gitlab' | 'other', Kind>> = {
  github: {
    issuer: 'https://token.actions.githubusercontent.com',
    claims: {
      ...{ repository: 'repository', workflow: 'workflow_ref', environment: 'environment', ref: 'ref' },
      ...{ commit: 'sha', run: 'run_id', event: 'event_name' },
    },
    ids: ['repository_id', 'repository_owner_id'],
    refusedEvents: ['pull_request_target', 'workflow_run'],
    folder: '/.github/workflows/',
  },
  gitlab: {
    issuer: 'https://gitlab.com',
    claims: {
      ...{ repository: 'project_path', workflow: 'ci_config_ref_uri', environment: 'environment' },
      ...{ ref: 'ref_path', commit: 'sha', run: 'pipeline_id', event: 'pipeline_source' },
    },
    ids: ['project_id', 'namespace_id'],
    refusedEvents: ['merge_request_event', 'external_pull_request_event'],
    folder: '//',
  },
  other: { claims: {}, ids: [], refusedEvents: [] },
};

const claimName = z.string().min(1).max(200);

/** One issuer of the identities of CI jobs, which publishers may trust. */
export const PublishIssuerSettings = z
  .strictObject({
    kind: z
      .enum(['github', 'gitlab', 'other'])
      .default('other')
      .describe('What the claims are called, unless claims says otherwise'),
    issuer: SecureUrl.optional().describe(
      'Its exact `iss`; its discovery document is below it. Default: that of github.com or gitlab.com',
    ),
    audience: z.string().min(1).optional().describe("What `aud` must be; default: the service's own URL"),
    claims: z
      .strictObject(
        Object.fromEntries(
          Object.entries(CLAIMS).map(([name, description]) => [
            name,
            claimName.optional().describe(description),
          ]),
        ) as Record<keyof typeof CLAIMS, z.ZodOptional<z.ZodString>>,
      )
      .optional()
      .describe(
        'Names of claims: repository, workflow, environment, ref, commit, run and event; dots lead into objects',
      ),
    ids: z
      .array(claimName)
      .optional()
      .describe('Claims with ids that cannot be registered again, which a trust keeps from its first use on'),
    refusedEvents: z
      .array(z.string().min(1))
      .optional()
      .describe("Events that are refused, because they run a stranger's code"),
    algorithms: z
      .array(z.enum(algorithms))
      .min(1)
      .default([...algorithms])
      .describe('Accepted signature algorithms'),
  })
  .refine(({ kind, issuer }) => issuer !== undefined || kind !== 'other', {
    path: ['issuer'],
    error: 'is required, unless kind is github or gitlab',
  });

export interface PublishIssuer extends Kind {
  readonly kind: keyof typeof KINDS;
  readonly issuer: string;
  readonly audience?: string | undefined;
  readonly algorithms: readonly string[];
}

/** Fills in what the kind of an issuer says. */
export function completeIssuer({
  kind,
  claims,
  ...settings
}: z.output<typeof PublishIssuerSettings>): PublishIssuer {
  const known = KINDS[kind];
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    ...known,
    ...(Object.fromEntries(given) as unknown as Pick<PublishIssuer, 'issuer' | 'algorithms'>),
    kind,
    claims: { ...known.claims, ...claims },
  };
}
