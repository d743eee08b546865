import { z } from 'zod';
import { SecureUrl } from '../secure-url.js';

/** Those whose public half cannot make a signature: never `none`, nor a secret shared with the issuer (HS256 …). */
const algorithms = [
  ...(['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512'] as const),
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
] as const;

/** One identity provider (OpenID Connect) whose access tokens the service accepts. */
export const IssuerSettings = z.strictObject({
  /** Its `iss`, letter by letter; its discovery document lies below it. */
  issuer: SecureUrl,
  /** Decided: what `aud` must hold is the service's own address, unless the provider names it otherwise. */
  audience: z.string().min(1).optional(),
  /** The public client that the command line signs in with. */
  clientId: z.string().min(1).optional(),
  /** What the command line asks for when it signs in. */
  scopes: z.array(z.string().min(1)).optional(),
  /** The claim that holds a person's roles; dots lead into objects: `realm_access.roles`. */
  rolesClaim: z.string().min(1).default('roles'),
  /** The role that makes an admin. */
  adminRole: z.string().min(1).default('admin'),
  algorithms: z
    .array(z.enum(algorithms))
    .min(1)
    .default([...algorithms]),
});

export type IssuerSettings = z.output<typeof IssuerSettings>;
