import type { View } from './view.js';

export const authViews: readonly View[] = [
  {
    usage: 'auth login',
    module: 'auth-login',
    summary: 'Keep a token for a service, read from standard input',
    flags: [
      { name: 'with-token', description: 'Read the token from standard input' },
      {
        name: 'publisher',
        value: 'publisherId',
        description: "Keep it as this publisher's personal access token, for publishing",
      },
    ],
    examples: [
      'regen auth login --with-token --base-url https://registry.example.com < token.txt',
      'regen auth login --with-token --publisher my-team < publish-token.txt',
    ],
  },
  {
    usage: 'auth logout',
    module: 'auth-logout',
    summary: 'Forget the tokens kept for a service',
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
    examples: ['curl -H "Authorization: Bearer $(regen auth token)" http://127.0.0.1:7717/users/me'],
  },
];
