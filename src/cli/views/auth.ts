import type { View } from './view.js';

export const authViews: readonly View[] = [
  {
    usage: 'auth login',
    module: 'auth-login',
    summary: 'Sign in to a service with a browser, or keep a token read from standard input',
    flags: [
      {
        name: 'device',
        description: 'Sign in with a browser on another device; done by itself where there is none here',
      },
      {
        name: 'client-id',
        value: 'id',
        description: 'What this program is called at the identity provider, where the service does not say',
      },
      {
        name: 'audience',
        value: 'name',
        description: "Audience of the identity provider's tokens, if it is not the address of the service",
      },
      { name: 'with-token', description: 'Read the token from standard input' },
      {
        name: 'publisher',
        value: 'publisherId',
        description: "Keep it as this publisher's personal access token, for publishing",
      },
    ],
    examples: [
      'regen auth login --base-url https://registry.example.com',
      'regen auth login --with-token --base-url https://registry.example.com < token.txt',
      'regen auth login --with-token --publisher my-team < publish-token.txt',
    ],
  },
  {
    usage: 'auth logout',
    module: 'auth-logout',
    summary: 'Forget the tokens kept for a service, and sign out at its identity provider',
  },
  {
    usage: 'auth status',
    module: 'auth-status',
    summary: 'Show who you are, where, and where the credential comes from; exit 4 if it does not work',
  },
  {
    usage: 'auth token',
    module: 'auth-token',
    summary: 'Print the token in use',
    flags: [{ name: 'show', description: 'Print it even to a terminal' }],
    examples: [
      `printf 'Authorization: Bearer %s' "$(regen auth token)" | curl -H @- http://127.0.0.1:7717/users/me`,
    ],
  },
];
