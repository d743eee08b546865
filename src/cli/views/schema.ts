import type { View } from './view.js';

export const schemaViews: readonly View[] = [
  {
    usage: 'schema [command...]',
    module: 'schema',
    local: true,
    summary: 'Print the JSON Schema of what a command prints with --json',
    explain: { command: "The command without its arguments, or 'error' (default: list the commands)" },
    shape: { columns: ['command', 'schema'] },
    examples: ['regen schema version check', 'regen schema error', 'regen schema --json'],
  },
];
