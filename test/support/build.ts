import { bundle, bundlePrograms } from '../../scripts/bundle.js';

/** Tests that start a program run what the sources say now. */
export async function setup(): Promise<void> {
  const names = ['hostile-program', 'keychain-process', 'ledger-process', 'service-process', 'store-process'];
  const programs = Object.fromEntries(names.map((name) => [name, `test/support/${name}.ts`]));
  await Promise.all([bundle(), bundlePrograms(programs, 'dist/test')]);
}
