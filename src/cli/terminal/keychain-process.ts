import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { parseJson } from '../../contract/json.js';
import { type Environment, type Keychain, KeychainError, type KeychainRequest } from './keychain.js';

/** A locked keychain prompts the user and blocks its thread, so it runs in a process that can be killed. */
const KEYCHAIN_TIMEOUT_MS = 3_000;

const PASSED_VARIABLES =
  /^(PATH|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|TMPDIR|TEMP|TMP|LANG|LC_\w+|XDG_\w+|DBUS_\w+|DISPLAY|WAYLAND_DISPLAY)$/i;

/** The source of the process: reads the request from standard input, and writes the answer to standard output. */
const buildProgram = (module: string) => `
const { readFileSync, writeSync } = require('node:fs');
const answer = (value) => writeSync(1, JSON.stringify(value));
try {
  const { Entry } = require(${JSON.stringify(module)});
  const { action, account, secret } = JSON.parse(readFileSync(0, 'utf8'));
  // The alternative on Linux is the kernel keyring, which is cleared at every boot.
  const entry = new Entry('regen', account, { linux: { store: 'secret-service' } });
  if (action === 'write') entry.setSecret(Buffer.from(secret));
  if (action === 'remove') entry.deleteCredential();
  const found = action === 'read' ? entry.getSecret() : null;
  answer({ secret: found ? Buffer.from(found).toString() : undefined });
} catch (error) {
  answer({ error: error.message });
}`;

/** Creates access to the keychain of this machine, with one process per request. */
export function createKeychain(node: string, env: Environment): Keychain {
  return async (request) => {
    const answer = await askKeychain(node, env, request);
    if (answer.error !== undefined) throw new KeychainError(answer.error);
    return answer.secret;
  };
}

interface Answer {
  readonly secret?: string;
  readonly error?: string;
}

function askKeychain(node: string, env: Environment, request: KeychainRequest): Promise<Answer> {
  return new Promise((done) => {
    const child = spawn(node, ['-e', buildProgram(findModule())], {
      env: Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_VARIABLES.test(name))),
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      done({ error: `it did not respond within ${KEYCHAIN_TIMEOUT_MS / 1000} s; it may be locked` });
    }, KEYCHAIN_TIMEOUT_MS);
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.once('error', (error) => done({ error: error.message }));
    child.once('close', () => {
      clearTimeout(timer);
      done(parseJson(text, { error: 'it exited without a response' }) as Answer);
    });
    child.stdin.on('error', () => {}).end(JSON.stringify(request));
  });
}

function findModule(): string {
  try {
    return createRequire(import.meta.url).resolve('@napi-rs/keyring');
  } catch {
    throw new KeychainError('the package @napi-rs/keyring is not installed');
  }
}
