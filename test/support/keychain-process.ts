import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { CredentialStore } from '../../src/cli/connect/credentials.js';
import type { Keychain } from '../../src/cli/terminal/keychain.js';
import { createSystem } from '../../src/cli/terminal/system.js';

/** Keeps publish tokens in a keychain that is slow, as real ones are: `<file of the keychain> <publisher...>`. */
const [file, ...publishers] = process.argv.slice(2) as [string, ...string[]];

const useSlowKeychain: Keychain = async ({ action, secret }) => {
  await pause(5);
  if (action === 'read') return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (action === 'remove') rmSync(file, { force: true });
  else {
    writeFileSync(`${file}.${process.pid}`, secret as string);
    renameSync(`${file}.${process.pid}`, file);
  }
  return undefined;
};

const store = new CredentialStore(
  { ...createSystem(''), keychain: useSlowKeychain },
  { name: 'https://registry.example', baseUrl: 'https://registry.example', source: 'test' },
  (sentence) => process.stderr.write(`${sentence}\n`),
  'keychain',
);
for (const publisher of publishers) {
  await store.keepPublishToken(publisher, `secret-of-${publisher}`);
  process.stdout.write(`${publisher}\n`);
}
