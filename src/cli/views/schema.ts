import type { View } from './view.js';

export const schemaViews: readonly View[] = [
  {
    usage: 'schema [command...]',
    module: 'schema',
    local: true,
    summary: 'Print the JSON Schema of what a command prints with --json, or of the request that it sends',
    explain: { command: "The command without its arguments, or 'error' (default: list the commands)" },
    flags: [{ name: 'input', description: 'The schema of the request body, with the rules of each model' }],
    shape: { columns: ['command', 'schema'] },
    examples: [
      'regen schema version check',
      'regen schema video text2video --input',
      'regen schema error',
      'regen schema --json',
    ],
  },
];
