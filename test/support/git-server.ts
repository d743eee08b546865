import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { listenOn } from './listen.js';
import { folderForTest } from './service.js';

/** Whether git and its server for HTTP are installed. */
export function gitExists(): boolean {
  const { stdout } = spawnSync('git', ['http-backend'], { env: { PATH: process.env.PATH } });
  return stdout?.toString().startsWith('Status:') ?? false;
}

/** Serves a folder as a git repository over HTTP. `commit` commits all of it and tags it. */
export async function gitServerForTest(folder: string) {
  const root = folderForTest();
  const env = { ...process.env, HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, stdio: 'pipe' });
  git('init', '--quiet');
  execFileSync('git', ['init', '--quiet', '--bare', `${root}/pack.git`], { env });
  const { url, close } = await listenOn((request, response) => answerWithGit(root, request, response));
  onTestFinished(close);
  return {
    url: `${url}/pack.git`,
    commit: (tag: string) => {
      git('add', '--all');
      git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', 'commit', '--quiet', '-m', tag);
      git('tag', tag);
      git('push', '--quiet', '--tags', `${root}/pack.git`);
    },
  };
}

function answerWithGit(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      ...{ GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', PATH_INFO: path, QUERY_STRING: query },
      ...{ REQUEST_METHOD: request.method, CONTENT_TYPE: request.headers['content-type'] },
      GIT_PROTOCOL: request.headers['git-protocol'] as string,
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
    },
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.on('close', () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    for (const line of all.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ');
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(all.subarray(end + 4));
  });
}
