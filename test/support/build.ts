import { bundle, bundlePrograms } from '../../scripts/bundle.js';

/** Tests that start a program run what the sources say now. */
export async function setup(): Promise<void> {
  const entryPoints = [
    'test/support/keychain-process.ts',
    'test/support/service-process.ts',
    'test/support/store-process.ts',
  ];
  await Promise.all([bundle(), bundlePrograms({ entryPoints, outdir: 'dist/test' })]);
}
