import { z } from 'zod';
import { SecureUrl } from '../network/secure-url.js';

/** Asymmetric algorithms only: neither `none` nor a secret shared with the issuer (HS256 …). */
const algorithms = [
  ...(['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512'] as const),
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
] as const;

/** One identity provider (OpenID Connect) whose access tokens the service accepts. */
export const IssuerSettings = z.strictObject({
  issuer: SecureUrl.describe('Its exact `iss`; its discovery document is below it'),
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
  algorithms: z
    .array(z.enum(algorithms))
    .min(1)
    .default([...algorithms])
    .describe('Accepted signature algorithms'),
});

export type IssuerSettings = z.output<typeof IssuerSettings>;
