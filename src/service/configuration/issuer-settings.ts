import { z } from 'zod';
import { SecureUrl } from '../network/secure-url.js';
import { measure } from './measure.js';

/** Asymmetric algorithms only: neither `none` nor a secret shared with the issuer (HS256 …). */
export const algorithms = [
  ...(['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512'] as const),
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
] as const;

/** Also for people whose identity provider is not configured any more. */
export const REST_DAYS = 90;

/** One identity provider (OpenID Connect) whose access tokens the service accepts. */
export const IssuerSettings = z.strictObject({
  issuer: SecureUrl.meta({ examples: ['https://login.example.com'] }).describe(
    "The provider's exact `iss`; discovery is read from `<issuer>/.well-known/openid-configuration`",
  ),
  // Decided: `aud` must contain the service's own URL unless this names another audience.
  audience: z.string().min(1).optional().describe("What `aud` must contain; default: the service's own URL"),
  clientId: z.string().min(1).optional().describe('The public client that `regen auth login` signs in with'),
  scopes: z.array(z.string().min(1)).optional().describe('The scopes that `regen auth login` requests'),
  rolesClaim: z
    .string()
    .min(1)
    .default('roles')
    .describe("The claim that holds a user's roles; dots lead into objects: `realm_access.roles`"),
  adminRole: z.string().min(1).default('admin').describe('The role of admins'),
  requireForOwners: z
    .strictObject({
      amr: z.array(z.string().min(1)).min(1).optional(),
      acr: z.array(z.string().min(1)).min(1).optional(),
    })
    .optional()
    .describe(
      'What a sign-in needs for changes that only owners and admins make, such as { amr = ["mfa"] }. The sign-in must have one of the listed `amr` values and one of the listed `acr` values, where set',
    ),
  // Decided: without it, keys would outlast their person's account at the identity provider by up to a year.
  restDays: measure(
    'days',
    z.union([z.int().min(1).max(3650), z.literal(false)], {
      error: 'must be a whole number of days from 1 to 3650, or false',
    }),
  )
    .default(REST_DAYS)
    .describe(
      'Time without a sign-in after which the API keys and personal access tokens of a person are refused until the next sign-in; false for never',
    ),
  // Decided: the access tokens of Dex have the claims of ID tokens.
  idTokens: z
    .boolean()
    .default(false)
    .describe('Whether ID tokens are accepted, for providers whose access tokens look the same, such as Dex'),
  algorithms: z
    .array(z.enum(algorithms))
    .min(1)
    .default([...algorithms])
    .describe('Accepted signature algorithms'),
});

export type IssuerSettings = z.output<typeof IssuerSettings>;
