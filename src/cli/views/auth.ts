import { flag } from '../command/flags.js';
import type { View } from './view.js';

export const authViews: readonly View[] = [
  {
    usage: 'auth login',
    module: 'auth-login',
    summary: 'Sign in to a service in a browser, or store a token read from standard input',
    flags: [
      flag('--device', 'Sign in with a browser on another device (default: if there is no browser here)'),
      flag(
        '--client-id <id>',
        'Client id of this program at the identity provider, if the service does not name one',
      ),
      flag(
        '--issuer <url>',
        'Identity provider to sign in with; confirms it where its tokens cannot be read, or where it has changed',
      ),
      flag(
        '--audience <name>',
        "Audience of the identity provider's tokens (default: the address of the service)",
      ),
      flag('--with-token', 'Read the token from standard input'),
      flag(
        '--publisher <publisherId>',
        "Store the token as this publisher's personal access token, for publishing",
      ),
    ],
    notes: ['With both --profile and --base-url, the profile is added.'],
    examples: [
      'regen auth login --profile team --base-url https://registry.example.com',
      'regen auth login --profile team --with-token < token.txt',
      'regen auth login --with-token --publisher my-team < publish-token.txt',
    ],
  },
  {
    usage: 'auth logout',
    module: 'auth',
    summary: 'Remove the stored tokens of a service, and sign out at its identity provider',
  },
  {
    usage: 'auth status',
    module: 'auth',
    summary:
      'Show who is signed in, on which service, and the source of the credential; exits 4 if it does not work',
  },
  {
    usage: 'auth token',
    module: 'auth',
    summary: 'Print the current token',
    flags: [flag('--show', 'Print the token even if stdout is a terminal')],
    examples: [
      `printf 'Authorization: Bearer %s' "$(regen auth token)" | curl -H @- http://127.0.0.1:7717/users/me`,
    ],
  },
];
