import { z } from 'zod';
import { SecureUrl } from '../network/secure-url.js';

/** Asymmetric algorithms only: neither `none` nor a secret shared with the issuer (HS256 …). */
const algorithms = [
  ...(['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512'] as const),
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
] as const;

/** One identity provider (OpenID Connect) whose access tokens the service accepts. */
export const IssuerSettings = z.strictObject({
  /** Its exact `iss`; its discovery document is below it. */
  issuer: SecureUrl,
  /** Decided: `aud` must contain the service's own URL unless this names another audience. */
  audience: z.string().min(1).optional(),
  /** The id of the public client that the command line signs in with. */
  clientId: z.string().min(1).optional(),
  /** The scopes that the command line requests when it signs in. */
  scopes: z.array(z.string().min(1)).optional(),
  /** The claim that holds a user's roles; dots lead into objects: `realm_access.roles`. */
  rolesClaim: z.string().min(1).default('roles'),
  /** The role of admins. */
  adminRole: z.string().min(1).default('admin'),
  algorithms: z
    .array(z.enum(algorithms))
    .min(1)
    .default([...algorithms]),
});

export type IssuerSettings = z.output<typeof IssuerSettings>;
