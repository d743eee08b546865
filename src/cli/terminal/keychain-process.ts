import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { type Environment, type Keychain, KeychainError, type KeychainRequest } from './keychain.js';

/** A locked keychain asks a person and blocks its thread meanwhile, so it is asked in a process that can be ended. */
const patienceMs = 3_000;

/** What reaching a keychain takes of the environment. */
const passed =
  /^(PATH|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|TMPDIR|TEMP|TMP|LANG|LC_\w+|XDG_\w+|DBUS_\w+|DISPLAY|WAYLAND_DISPLAY)$/i;

/** Run as it stands here: the request comes on standard input, the answer goes to standard output. */
const program = (module: string) => `
const { readFileSync, writeSync } = require('node:fs');
const answer = (value) => writeSync(1, JSON.stringify(value));
try {
  const { Entry } = require(${JSON.stringify(module)});
  const { action, account, secret } = JSON.parse(readFileSync(0, 'utf8'));
  // The kernel's keyring, which would be the other choice on Linux, is emptied with each start of the machine.
  const entry = new Entry('regen', account, { linux: { store: 'secret-service' } });
  if (action === 'write') entry.setSecret(Buffer.from(secret));
  if (action === 'remove') entry.deleteCredential();
  const found = action === 'read' ? entry.getSecret() : null;
  answer({ secret: found ? Buffer.from(found).toString() : undefined });
} catch (error) {
  answer({ error: error.message });
}`;

/** The keychain of this machine, one process a request. */
export function keychainApart(node: string, env: Environment): Keychain {
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
    const child = spawn(node, ['-e', program(modulePath())], {
      env: Object.fromEntries(Object.entries(env).filter(([name]) => passed.test(name))),
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      done({ error: `it did not answer within ${patienceMs / 1000} s; it may be locked` });
    }, patienceMs);
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.once('error', (error) => done({ error: error.message }));
    child.once('close', () => {
      clearTimeout(timer);
      done(parseAnswer(text));
    });
    child.stdin.on('error', () => {}).end(JSON.stringify(request));
  });
}

function modulePath(): string {
  try {
    return createRequire(import.meta.url).resolve('@napi-rs/keyring');
  } catch {
    throw new KeychainError('the package @napi-rs/keyring is not installed');
  }
}

function parseAnswer(text: string): Answer {
  try {
    return JSON.parse(text);
  } catch {
    return { error: 'it ended without an answer' };
  }
}
