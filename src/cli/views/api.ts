import { flag } from '../command/flags.js';
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
      flag(
        '-F, --field <key=value>',
        'Add a field to the JSON body, or to the query for GET and with --body; numbers, true, false and null are converted, @file is read, key[sub] and key[] nest',
        { repeat: true },
      ),
      flag('-f, --raw-field <key=value>', 'Add a field as text, without conversion', { repeat: true }),
      flag('--body <json|@file|->', 'Whole request body'),
      flag('-H, --header <name: value>', 'Add a request header', { repeat: true }),
      flag('--paginate', 'Read all pages of a list, and print them as one'),
      flag('-i, --include', 'Print the status line and the headers before the body'),
    ],
    examples: [
      'regen api GET /nodes -F search=light',
      'regen api /nodes --paginate --jq ".nodes[].id"',
      "regen api PUT /publishers/my-team -f name='My Team'",
      'regen api POST /bulk/nodes/versions --body @pairs.json',
    ],
  },
];
