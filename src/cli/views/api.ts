import type { View } from './view.js';

export const apiViews: readonly View[] = [
  {
    usage: 'api [method] <path>',
    module: 'api',
    summary: 'Send any request with the current credential, and print the response unchanged',
    explain: {
      method: 'HTTP method (default: GET, or POST with fields or a body)',
      path: 'Path relative to the service address, such as /nodes',
    },
    changes: true,
    flags: [
      {
        name: 'field',
        short: 'F',
        value: 'key=value',
        description:
          'Add a field to the JSON body, or to the query for GET and with --body; numbers, true, false and null are converted, @file is read, key[sub] and key[] nest',
        repeat: true,
      },
      {
        name: 'raw-field',
        short: 'f',
        value: 'key=value',
        description: 'Add a field as text, without conversion',
        repeat: true,
      },
      { name: 'body', value: 'json|@file|-', description: 'Whole request body' },
      { name: 'header', short: 'H', value: 'name: value', description: 'Add a request header', repeat: true },
      { name: 'include', short: 'i', description: 'Print the status line and the headers before the body' },
    ],
    examples: [
      'regen api GET /nodes -F search=light',
      "regen api PUT /publishers/my-team -f name='My Team'",
      'regen api POST /bulk/nodes/versions --body @pairs.json',
    ],
  },
];
