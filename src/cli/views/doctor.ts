import type { View } from './view.js';

export const doctorViews: readonly View[] = [
  {
    usage: 'doctor',
    module: 'doctor',
    summary: 'Check the settings, service, clock, credential, proxy, folders and terminal, and suggest fixes',
    shape: { columns: ['check', 'status', 'detail', 'advice'] },
    examples: ['regen doctor', 'regen doctor --base-url https://registry.example.com --json'],
  },
];
