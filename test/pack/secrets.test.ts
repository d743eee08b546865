import { describe, expect, it } from 'vitest';
import { chooseFiles } from '../../src/pack/files.js';
import { findSecrets } from '../../src/pack/secrets.js';
import { createZip } from '../support/create-zip.js';
import { type Content, createFolder } from './folders.js';

async function listSecrets(files: Readonly<Record<string, Content>>) {
  return findSecrets((await chooseFiles(await createFolder(files))).files);
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** As random as a key, the same in every run, and in no file of this project as a whole. */
function createRandomText(length: number, letters = alphabet): string {
  let state = 42;
  return Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return letters[(state >>> 8) % letters.length];
  }).join('');
}

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const hex = '0123456789abcdef';
const dashes = '-----';
const privateKey = (label: string, lineEnd = '\n') =>
  [
    `${dashes}BEGIN ${label}PRIVATE KEY${dashes}`,
    createRandomText(64),
    createRandomText(64),
    `${dashes}END ${label}PRIVATE KEY${dashes}`,
  ].join(lineEnd);

const shapes: [kind: string, text: string][] = [
  ['private key', privateKey('')],
  ['private key', privateKey('RSA ')],
  ['private key', privateKey('OPENSSH ', '\r\n')],
  ['private key', `key = """${privateKey('EC ')}"""`],
  ['private key', `{ "private_key": "${privateKey('', '\\n')}" }`],
  [
    'private key',
    `${dashes}BEGIN RSA PRIVATE KEY${dashes}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n${createRandomText(64)}`,
  ],
  ['private key', `text = "${JSON.stringify(privateKey('')).slice(1, -1).replaceAll('\\', '\\\\')}"`],
  ['private key', `client-key-data: ${Buffer.from(privateKey('RSA ')).toString('base64')}`],
  ['private key', `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n${createRandomText(64)}`],
  ['service account key', `"private_key_id": "${createRandomText(40, hex)}"`],
  ['AWS access key', `aws_access_key_id = AKIA${createRandomText(16, upper)}`],
  ['GitHub token', `ghp_${createRandomText(36)}`],
  ['GitHub token', `github_pat_${createRandomText(22)}_${createRandomText(59)}`],
  ['GitLab token', `glpat-${createRandomText(20)}`],
  ['OpenAI key', `sk-${createRandomText(20)}T3BlbkFJ${createRandomText(20)}`],
  ['OpenAI key', `OPENAI_API_KEY="sk-proj-${createRandomText(100)}"`],
  ['Anthropic key', `sk-ant-api03-${createRandomText(90)}`],
  ['Hugging Face token', `login(token="hf_${createRandomText(34)}")`],
  ['Replicate token', `r8_${createRandomText(37)}`],
  ['Slack token', `xoxb-${createRandomText(12, '0123456789')}-${createRandomText(24)}`],
  [
    'Slack webhook',
    `https://hooks.slack.com/services/T${createRandomText(9, upper)}/B${createRandomText(9, upper)}/${createRandomText(24)}`,
  ],
  [
    'Discord webhook',
    `https://discord.com/api/webhooks/${createRandomText(18, '0123456789')}/${createRandomText(68)}`,
  ],
  ['Stripe key', `sk_live_${createRandomText(24)}`],
  ['Google API key', `AIza${createRandomText(35)}`],
  ['regen token', `REGEN_PUBLISH_TOKEN=regen_pat_${createRandomText(40)}`],
  ['regen token', `regen_owner_${createRandomText(43)}`],
  ['webhook secret', `whsec_${createRandomText(43)}=`],
  ['registry token', `npmAuthToken: "${createRandomText(36)}"`],
  [
    'container registry password',
    `{ "auths": { "registry.example": { "auth": "${createRandomText(24)}" } } }`,
  ],
  ['npm token', `npm_${createRandomText(36)}`],
  ['registry token', `//registry.example/:_authToken=${createRandomText(36)}`],
  ['PyPI token', `pypi-AgEI${createRandomText(80)}`],
  ['SendGrid key', `SG.${createRandomText(22)}.${createRandomText(43)}`],
];

describe('secrets in text', () => {
  it.each(shapes)('are found by their shape: %s (%#)', async (kind, text) => {
    expect(await listSecrets({ 'config.py': `# settings\n\n${text}\n` })).toContainEqual({
      path: 'config.py',
      line: 3,
      kind: expect.stringContaining(kind),
    });
  });

  it('are never part of the report', async () => {
    const text = shapes.map(([, secret]) => secret).join('\n');
    const report = JSON.stringify(await listSecrets({ 'all.txt': text }));
    expect(report).not.toContain(createRandomText(12));
    expect(report).not.toContain(createRandomText(12, upper));
  });

  it('are found in large files, with the right line, also where two chunks meet', async () => {
    const line = `${'x = 1  # padding'.padEnd(99)}\n`;
    for (const lines of [2621, 2622, 10_000]) {
      const text = `${line.repeat(lines)}token = "ghp_${createRandomText(36)}"\n${line.repeat(5000)}`;
      expect(await listSecrets({ 'large.py': text })).toEqual([
        { path: 'large.py', line: lines + 1, kind: 'GitHub token' },
      ]);
    }
  });

  it.each<[string, (text: string) => Buffer]>([
    ['UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, big-endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le')],
    ['UTF-32', (text) => Buffer.from([...text].flatMap((one) => [one.charCodeAt(0), 0, 0, 0]))],
  ])('are found in %s', async (_, encode) => {
    const bytes = encode(`# settings\ntoken = "ghp_${createRandomText(36)}"\n`);
    const secret = { path: 'settings.ps1', line: 2, kind: 'GitHub token' };
    expect(await listSecrets({ 'settings.ps1': bytes })).toEqual([secret]);
  });

  it('are found in archives within the pack', async () => {
    const inner = await createZip({
      'config/.env': 'KEY=1',
      'a.txt': `hf_${createRandomText(34)}`,
      'b.txt': 'nothing',
    });
    expect(await listSecrets({ 'backup.zip': inner })).toEqual([
      { path: 'backup.zip/config/.env', kind: 'environment file' },
      { path: 'backup.zip/a.txt', kind: 'Hugging Face token' },
    ]);
  });

  it('are found in a long text with a zero in its middle', async () => {
    const text = `hf_${createRandomText(34)}\n${'x'.repeat(258 * 1024)}\0`;
    expect(await listSecrets({ 'a.txt': text })).toEqual([
      { path: 'a.txt', line: 1, kind: 'Hugging Face token' },
    ]);
  });

  it('are found on every line and reported once each', async () => {
    const token = `hf_${createRandomText(34)}`;
    expect(await listSecrets({ 'a.py': `${token} ${token}\n\n${token}` })).toEqual([
      { path: 'a.py', line: 1, kind: 'Hugging Face token' },
      { path: 'a.py', line: 3, kind: 'Hugging Face token' },
    ]);
  });
});

describe('files that are secrets by their nature', () => {
  it.each([
    '.env',
    'server/.env',
    '.env.local',
    '.env.production',
    'id_rsa',
    'keys/id_ed25519',
    'cert.p12',
    '.env~',
    '.env-prod',
    'prod.env',
    '.dev.vars',
    'id_rsa.bak',
    'ID_ED25519',
    '.pypirc',
    '.netrc',
    '.git-credentials',
    '.htpasswd',
  ])('are named: %s', async (path) => {
    expect(await listSecrets({ [path]: 'anything' })).toEqual([{ path, kind: expect.any(String) }]);
  });

  it('are named when a link with an innocent name leads to them', async () => {
    const secrets = await listSecrets({ '.env': 'KEY=1', 'settings.txt': { link: '.env' } });
    expect(secrets.map((secret) => secret.path)).toEqual(['.env', 'settings.txt']);
  });
});

describe('an honest pack', () => {
  it.each<[string, string]>([
    ['.env.example', 'OPENAI_API_KEY=\n'],
    ['.env.local.sample', 'TOKEN=\n'],
    ['.env_example', 'TOKEN=\n'],
    ['environment.py', 'import os\n'],
    ['id_rsa.pub', `ssh-rsa ${'AAAAB3NzaC1yc2E'.repeat(20)} me@example.com\n`],
    ['.npmrc', `//registry.example/:_authToken=\${NPM_TOKEN}\nsave-exact=true\n`],
    ['keys.py', `if pem.startswith("${dashes}BEGIN PRIVATE KEY${dashes}"):\n    load(pem)\n`],
    [
      'cert.pem',
      `${dashes}BEGIN CERTIFICATE${dashes}\n${createRandomText(64)}\n${dashes}END CERTIFICATE${dashes}\n`,
    ],
    ['README.md', `export HF_TOKEN=hf_${'x'.repeat(34)}\nsk-proj-${'your-key-here-'.repeat(4)}\n`],
    ['docs.md', `The key looks like AKIA${'IOSFODNN7EXAMPLE'} or ghp_${'1234567890'.repeat(4)}`],
    ['nodes.py', 'def hf_download_the_model_and_cache_it_for_later_use(name): ...\n'],
    ['package-lock.json', `"integrity": "sha512-${createRandomText(86)}=="\n`],
    ['classes.css', '.sk-circle-fade-dot-and-some-more-words-to-make-it-long-enough { }\n'],
  ])('gives no findings: %s', async (path, text) => {
    expect(await listSecrets({ [path]: text })).toEqual([]);
  });

  it('has binaries that are passed over', async () => {
    for (const start of [Buffer.from([0x89, 0, 1]), Buffer.alloc(64)]) {
      const bytes = Buffer.concat([start, Buffer.from(`ghp_${createRandomText(36)}`)]);
      expect(await listSecrets({ 'model.bin': bytes })).toEqual([]);
    }
  });
});
