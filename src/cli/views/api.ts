import type { View } from './view.js';

export const apiViews: readonly View[] = [
  {
    usage: 'api [method] <path>',
    module: 'api',
    summary: 'Send any request to the service with the credential in use, and print the answer unchanged',
    explain: {
      method: 'GET where absent, POST where there are fields or a body',
      path: 'Path below the service address, such as /nodes',
    },
    changes: true,
    flags: [
      {
        name: 'field',
        short: 'F',
        value: 'key=value',
        description:
          'Field of the JSON body, or of the query for GET and beside --body; numbers, true, false and null mean themselves, @file is read, key[sub] and key[] nest',
        repeat: true,
      },
      {
        name: 'raw-field',
        short: 'f',
        value: 'key=value',
        description: 'The same, always text',
        repeat: true,
      },
      { name: 'body', value: 'json|@file|-', description: 'The whole request body' },
      { name: 'header', short: 'H', value: 'name: value', description: 'Header to send', repeat: true },
      { name: 'include', short: 'i', description: 'Print the status line and the headers first' },
    ],
    examples: [
      'regen api GET /nodes -F search=light',
      "regen api PUT /publishers/my-team -f name='My Team'",
      'regen api POST /bulk/nodes/versions --body @pairs.json',
    ],
  },
];
