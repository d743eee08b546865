import { findNearest } from '../../wire/nearest.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { toJson } from '../terminal/text.js';
import type { View } from '../views/view.js';
import { loadService } from './serve.js';

export const view = (): View => ({
  usage: 'serve vendor <name>',
  local: true,
  summary: 'Print the profile of a vendor as JSON, as a start for your own',
  explain: { name: 'Name of the profile, such as magnific or vidu; docs/vendors.md lists them' },
  notes: ['docs/vendors.md explains its fields. `regen serve --check` says what is wrong with one.'],
  examples: ['regen serve vendor vidu > mine.json'],
});

export async function run({ args, folders, output }: Needs<'args' | 'folders' | 'output'>): Promise<void> {
  const { loadVendorProfiles } = await loadService(folders);
  const vendorProfiles = await loadVendorProfiles();
  const name = args.name as string;
  const names = Object.keys(vendorProfiles);
  if (!names.includes(name)) {
    const near = findNearest(name.slice(0, 100), names);
    const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
    throw usage(`There is no vendor profile named '${name}'${hint}.`, `Use one of ${names.join(', ')}.`);
  }
  await output.line(toJson(vendorProfiles[name], 2));
}
