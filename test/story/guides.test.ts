import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, onTestFinished, test } from 'vitest';
import { entry, homeWithService } from '../support/cli.js';
import { findFreePort } from '../support/listen.js';
import { folderForTest } from '../support/service.js';
import { runInShell } from '../support/transcript.js';

// Runs each command of the README and the guides as it is written, page by page, in a folder with what the page speaks of. A line is
// only read if a comment says what it needs (`# needs ComfyUI`), and a block if its first line does; so is what npm, pip and comfy do.

const PUBLISH =
  'regen node scaffold light-tools --publisher my-team --version 1.2.0 && regen version publish light-tools';
const PUBLISH_NEXT = `${PUBLISH} && regen version bump minor light-tools && regen version publish light-tools`;
const INSTALLED = `mkdir -p flows ComfyUI/custom_nodes && ${PUBLISH} && cp flow.json portrait.json && cp flow.json flows`;

const SCRIPT = "printf '#!/bin/sh\\ntrue\\n' > night.sh && chmod +x night.sh";

/** What a page takes for granted. */
const STAGES: Readonly<Record<string, string>> = {
  'docs/agents.md': SCRIPT,
  'docs/generation.md': SCRIPT,
  'README.md':
    'mkdir custom_nodes packs flows && sed s/LightTools/MyNodes/ flow.json > flows/portrait.json && for p in one two; do regen node scaffold packs/$p --publisher my-team; done',
  'docs/ci.md': `${PUBLISH_NEXT} --stage`,
  'docs/comfyui.md': `cp -r ${process.cwd()}/examples .`,
  'docs/faq.md': `${PUBLISH.replace('1.2.0', '1.1.0')}`,
  'docs/installing.md': `git init -q . && mkdir -p ComfyUI/custom_nodes && ${PUBLISH} && regen node scaffold mask-tools --publisher my-team --version 1.2.3 && regen version publish mask-tools`,
  'docs/operating.md': `${PUBLISH} && : > regen.toml`,
  'docs/pages.md': 'regen node scaffold hello-nodes --publisher my-team && regen version publish hello-nodes',
  'docs/publishing.md': PUBLISH,
  'docs/testing-scripts.md': `printf '#!/bin/sh\\n${process.execPath} ${entry} node search\\n' > my-script.sh && chmod +x my-script.sh`,
  'docs/workflows.md': `${INSTALLED} && regen version bump major light-tools && regen version publish light-tools`,
};

const OTHER_PROGRAMS = /^(npm|pip|comfy) /;
const NEEDS = /# needs /i;
/** Commands that run until they are stopped. A reader has a second terminal. */
const STAYS = /^regen (serve( --config \S+)?|webhook listen( .*)?|registry changes --follow( .*)?)$/;

const pages = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter(
  // The quickstart has a test of its own, and the reference lists commands without their files.
  (path) => path.endsWith('.md') && !/quickstart|reference/.test(path),
);
const guides = pages
  .map((path) => [path, readLines(readFileSync(path, 'utf8'))] as const)
  .filter(([, lines]) => lines.length > 0);

test('the guides have commands to run', () => {
  expect(guides.length).toBeGreaterThan(13);
  expect(guides.flatMap(([, lines]) => lines).length).toBeGreaterThan(45);
});

test.each(guides)('the commands in %s run as they are written', { timeout: 300_000 }, async (path, lines) => {
  const home = homeWithService();
  const cwd = folderForTest();
  const bin = folderForTest();
  writeFileSync(join(bin, 'regen'), `#!/bin/sh\nexec ${process.execPath} ${entry} "$@"\n`, { mode: 0o755 });
  await writeFiles(cwd, readFileSync(path, 'utf8'));
  const ports = new Map<string, number>();
  for (const port of ['3000', '7718', '8788']) ports.set(port, await findFreePort());
  if (path.includes('webhooks')) await receiveForTest(ports.get('3000') as number);
  const env = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: home, SHELL: '/bin/bash', BROWSER: 'true' },
    // One that nothing else on this machine has.
    REGEN_SERVE_PORT: '0',
    PORT: String(ports.get('3000')),
  };
  // What a page exports holds for its later commands, as in a shell.
  let exported = '';
  const run = (line: string) => runInShell(`{ cd ${cwd} && ${exported}${line}\n}`, env);
  const stage = await run(STAGES[path] ?? 'true');
  expect(stage.exit, stage.text).toBe(0);
  for (const written of lines) {
    const line = written.replace(/(?<=[: ])(3000|7718|8788)\b/g, (port) => String(ports.get(port)));
    const [command = ''] = line.split(/ +# /);
    if (STAYS.test(command)) {
      const child = spawn('sh', ['-c', `exec ${command}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void child.kill());
      // Its first words say that it is ready.
      const started = await new Promise((done) => {
        child.stdout.once('data', done);
        child.stderr.on('data', (text) => /ready|listening|http:/i.test(String(text)) && done(text));
        child.once('exit', (code) => done(code));
      });
      expect(typeof started, `${path}: ${written} ended with ${started}`).toBe('object');
      continue;
    }
    const { exit, text } = await run(command);
    expect(exit, `${path}: ${written}\n${text}`).toBe(0);
    if (/^(export )?[A-Za-z_]+=\S*(\$\(|')/.test(command) || /^id=/.test(command)) exported += `${command}\n`;
  }
});

/** Reads the commands that can run on any machine. */
function readLines(page: string): string[] {
  const blocks = Array.from(page.matchAll(/^```sh\n([\s\S]*?)```/gm), ([, block]) => block as string);
  return blocks
    .filter((block) => !/^# needs /i.test(block))
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .filter((line) => line.trim() !== '' && !OTHER_PROGRAMS.test(line) && !NEEDS.test(line));
}

/** Writes what the commands read: pictures, and the jobs, settings and scenarios that the page shows. */
async function writeFiles(cwd: string, page: string): Promise<void> {
  const colors = ['#884422', '#224488', '#228844'];
  for (const [at, name] of ['photo', 'portrait', 'painting', 'morning', 'evening', 'a', 'b'].entries()) {
    const background = colors[at % 3] as string;
    const picture = sharp({ create: { width: 64, height: 48, channels: 3, background } });
    await picture.jpeg().toFile(join(cwd, `${name}.jpg`));
    if (name === 'photo') await picture.png().toFile(join(cwd, 'map.png'));
  }
  const readBlock = (language: string) =>
    new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'm').exec(page)?.[1];
  const jobs = '{"command": "image relight", "image": "a.jpg", "prompt": "warm"}\n';
  writeFileSync(join(cwd, 'jobs.jsonl'), readBlock('json') ?? jobs);
  const toml = readBlock('toml');
  for (const name of ['regen.toml', 'scenario.toml']) if (toml) writeFileSync(join(cwd, name), toml);
  const inputs = { image: ['1', 0], strength: 1.2 };
  const flow = {
    1: { class_type: 'LoadImage', inputs: { image: 'photo.jpg' } },
    2: { class_type: 'LightToolsBrightness', inputs },
    3: { class_type: 'PreviewImage', inputs: { images: ['2', 0] } },
  };
  writeFileSync(join(cwd, 'flow.json'), JSON.stringify(flow));
  mkdirSync(join(cwd, 'empty'));
}

async function receiveForTest(port: number): Promise<void> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  onTestFinished(() => void server.close());
}
