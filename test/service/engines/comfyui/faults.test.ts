import { describe, expect, it, vi } from 'vitest';
import { type ComfyUiVersion, startComfyUi } from '../../../support/comfyui.js';
import { comfyUiServiceForTest, smallestGraph, writeWorkflows } from '../../../support/comfyui-service.js';
import { readTask, startTask, waitForTask } from '../../../support/generation.js';
import { ask } from '../../../support/service.js';
import { steppingProxyForTest } from '../../../support/stepping-proxy.js';
import { waitFor } from '../../../support/wait-for.js';

const workflows = () => writeWorkflows({ 'image.relight': smallestGraph });
const versions: readonly ComfyUiVersion[] = ['0.3.64', '0.33.0'];

type Options = NonNullable<Parameters<typeof startComfyUi>[0]>;

/** A service whose clock can be set ahead, and a task of it. */
async function serve(options: Options, graph?: object) {
  const host = await startComfyUi(options);
  const clock = { aheadMs: 0 };
  const log = vi.fn();
  const { asking, service } = await comfyUiServiceForTest(
    { url: host.url, workflows: graph ? writeWorkflows({ 'image.relight': graph }) : workflows() },
    {},
    { now: () => Date.now() + clock.aheadMs, log },
  );
  const readAccount = async (id: string) =>
    (await ask(`${asking.url}/users/tasks/${id}`, { token: asking.token })).body;
  const cancel = (id: string) =>
    ask(`${asking.url}/users/tasks/${id}/cancel`, { method: 'POST', token: asking.token });
  return { host, clock, log, asking, service, readAccount, cancel };
}

type Served = Awaited<ReturnType<typeof serve>>;

/** Waits until a task has failed. @returns what its user reads about it */
async function readFailure({ asking, readAccount }: Served, id: string) {
  await waitForTask(asking, id, 'FAILED');
  const { reason, credits } = await readAccount(id);
  return { reason, credits };
}

/** Waits until a task has failed, while the clock goes on by a minute each time. */
function waitAhead({ clock, asking }: Served, id: string) {
  return waitFor(async () => {
    clock.aheadMs += 60_000;
    expect((await readTask(asking, id)).status).toBe('FAILED');
  });
}

describe.each(versions)('ComfyUI %s', (version) => {
  it.each(['before', 'after'] as const)(
    'runs a task once if the answer to its start is lost %s it takes it',
    async (when) => {
      const served = await serve({ version, loses: (count) => (count === 1 ? when : undefined) });
      const id = await startTask(served.asking);
      await waitForTask(served.asking, id);
      expect(served.host.ran).toEqual([id]);
      expect(served.host.asked.filter((name) => name === 'POST /prompt')).toHaveLength(
        when === 'before' ? 2 : 1,
      );
      expect((await served.readAccount(id)).credits).toBe(5);
    },
  );

  it('that is killed with a queue makes what it forgot once more, and loses nothing', async () => {
    const { host, asking, service, log } = await serve({ version, runs: false });
    const ids = [await startTask(asking), await startTask(asking), await startTask(asking)];
    await waitFor(() => expect(host.pending).toHaveLength(2));
    host.begin();
    await host.stop();
    await waitFor(() =>
      expect(log).toHaveBeenCalledWith(
        'warn',
        expect.stringContaining('does not answer as expected'),
        expect.anything(),
      ),
    );
    await host.start();
    for (const id of ids)
      await waitFor(async () => {
        await host.run();
        expect((await readTask(asking, id)).status).toBe('COMPLETED');
      });
    expect([...host.ran].sort()).toEqual([...ids].sort());
    const charges = await service.context.database.selectFrom('credits').select('kind').execute();
    expect(charges).toEqual(ids.map(() => ({ kind: 'charge' })));
  });

  it('that forgets a task twice fails it, with its credits given back', async () => {
    const served = await serve({ version, runs: false });
    const id = await startTask(served.asking);
    for (const round of [1, 2]) {
      await waitFor(() => expect(served.host.taken).toHaveLength(round));
      served.clock.aheadMs += 10_000;
      served.host.restart();
    }
    expect(await readFailure(served, id)).toEqual({ reason: 'ComfyUI has lost the task twice.', credits: 0 });
    expect(served.host.taken).toHaveLength(2);
  });

  it('is not asked again for a task with nodes that are paid', async () => {
    const graph = {
      ...smallestGraph,
      '3': { class_type: 'PaidImage', inputs: { image: ['1', 0] } },
      '2': { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_prefix: 'x' } },
    };
    const served = await serve({ version, runs: false }, graph);
    const id = await startTask(served.asking);
    await waitFor(() => expect(served.host.taken).toHaveLength(1));
    served.clock.aheadMs += 10_000;
    served.host.restart();
    const { reason } = await readFailure(served, id);
    expect(reason).toBe('ComfyUI has lost the task, which has nodes that are paid.');
    expect(served.host.taken).toHaveLength(1);
  });

  it('says which node failed, without paths of its disk', async () => {
    const served = await serve({ version, fails: ['LoadImage'] });
    const id = await startTask(served.asking);
    expect(await readFailure(served, id)).toEqual({
      reason: "The workflow failed at node 1 (LoadImage): cannot identify image file '…' at ….",
      credits: 0,
    });
  });

  it('says which input of which node it refuses, and nothing is charged', async () => {
    const blur = { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 99, sigma: 1 } };
    const graph = {
      ...smallestGraph,
      '3': blur,
      '2': { ...smallestGraph['2'], inputs: { images: ['3', 0], filename_prefix: 'x' } },
    };
    // It does not say what its nodes take, so that the task is started.
    let isMute = true;
    const served = await serve(
      { version, instead: (path) => (isMute && path.startsWith('/object_info') ? 'hang up' : undefined) },
      graph,
    );
    const id = await startTask(served.asking);
    isMute = false;
    expect(await readFailure(served, id)).toEqual({
      reason:
        'ComfyUI refused the workflow: node 3 (ImageBlur), input blur_radius: Value 99 bigger than max of 31.',
      credits: 0,
    });
  });

  it('runs nothing of a workflow of which it refuses a part', async () => {
    const graph = { ...smallestGraph, '4': { class_type: 'StringNode', inputs: { text: 5, seed: 1 } } };
    const served = await serve({ version, runs: false }, graph);
    const id = await startTask(served.asking);
    const { reason } = await readFailure(served, id);
    expect(reason).toContain('node 4 (StringNode), input text');
    await waitFor(() => expect(served.host.pending).toEqual([]));
    expect(served.host.ran).toEqual([]);
  });
});

describe('a task at ComfyUI', () => {
  it('that waits is taken out of the queue when it is cancelled, and costs nothing', async () => {
    const { host, asking, cancel } = await serve({ runs: false });
    const [first, second] = [await startTask(asking), await startTask(asking)];
    await waitFor(() => expect(host.pending).toHaveLength(2));
    host.begin();
    const waiting = host.pending[0]?.id as string;
    const { status, body } = await cancel(waiting);
    expect([status, body.credits, host.pending, host.interrupted]).toEqual([200, 0, [], []]);
    await host.run();
    await waitForTask(asking, waiting === first ? second : first);
  });

  it('that runs is interrupted alone when it is cancelled, and is paid for', async () => {
    const { host, asking, cancel } = await serve({ runs: false });
    const id = await startTask(asking);
    await waitFor(() => expect(host.pending).toHaveLength(1));
    host.begin();
    const { status, body } = await cancel(id);
    expect([status, body.credits, host.interrupted, host.running]).toEqual([200, 5, [id], []]);
  });

  it('that another person interrupts there fails, and costs nothing', async () => {
    const served = await serve({ runs: false });
    const id = await startTask(served.asking);
    await waitFor(() => expect(served.host.pending).toHaveLength(1));
    served.host.begin();
    await fetch(`${served.host.url}/interrupt`, { method: 'POST', body: JSON.stringify({ prompt_id: id }) });
    expect(await readFailure(served, id)).toEqual({
      reason: 'The workflow was interrupted at ComfyUI.',
      credits: 0,
    });
  });

  it('waits for one that does not run yet', async () => {
    const { host, asking } = await serve({});
    await host.stop();
    const id = await startTask(asking);
    await host.start();
    await waitForTask(asking, id);
    expect(host.ran).toEqual([id]);
  });

  it.each([
    ['HTML', { status: 200, type: 'text/html', body: '<h1>Hello</h1>' }, 'its answer is not that of ComfyUI'],
    ['another document', { status: 200, body: {} }, 'its queue is not that of ComfyUI'],
    ['502', { status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' }, 'it answered 502'],
  ])('ends in minutes if %s answers in its place', async (_, reply, why) => {
    let isGone = false;
    const served = await serve({ runs: false, instead: () => (isGone ? reply : undefined) });
    const id = await startTask(served.asking);
    await waitFor(() => expect(served.host.taken).toHaveLength(1));
    isGone = true;
    await waitAhead(served, id);
    expect((await served.readAccount(id)).reason).toBe(`ComfyUI is not available: ${why}.`);
    expect(served.host.taken).toHaveLength(1);
  });

  it('ends in minutes if it waits and nothing runs, and is taken out of the queue', async () => {
    const served = await serve({ runs: false });
    const id = await startTask(served.asking);
    await waitAhead(served, id);
    expect((await served.readAccount(id)).reason).toContain(
      'tasks wait in its queue and none runs; restart it',
    );
    expect(served.host.pending).toEqual([]);
  });

  it('keeps its place while another one runs', async () => {
    const served = await serve({ runs: false });
    const ids = [await startTask(served.asking), await startTask(served.asking)];
    await waitFor(() => expect(served.host.pending).toHaveLength(2));
    served.host.begin();
    const looks = served.host.asked.length;
    served.clock.aheadMs += 60 * 60_000;
    await waitFor(() => expect(served.host.asked.length).toBeGreaterThan(looks + 10));
    await served.host.run();
    for (const id of ids) await waitForTask(served.asking, id);
  });

  it.each([
    ['cut', (file: Buffer) => ({ bytes: file.subarray(0, -20) })],
    ['shorter than it says', (file: Buffer) => ({ bytes: file.subarray(0, 50), length: file.length })],
    ['not an image', () => ({ bytes: Buffer.from('<html></html>') })],
  ])('is fetched again if its result is %s', async (_, spoil) => {
    const served = await serve({ send: (file, count) => (count < 3 ? spoil(file) : { bytes: file }) });
    const id = await startTask(served.asking);
    const { generated } = await waitForTask(served.asking, id);
    expect(generated).toHaveLength(1);
    expect(served.host.ran).toEqual([id]);
  });

  it('is not looked for at other addresses of this machine that a result leads to', async () => {
    const other = await startComfyUi();
    const location = `${other.url}/view?filename=a.png`;
    const served = await serve({
      instead: (path) => (path === '/view' ? { status: 302, body: '', location } : undefined),
    });
    const id = await startTask(served.asking);
    await waitAhead(served, id);
    const { reason } = await served.readAccount(id);
    expect(reason).toBe('ComfyUI is not available: its address is not public.');
    expect(other.asked).toEqual([]);
  });

  it.each(['asked', 'answered'] as const)(
    'that is cancelled when ComfyUI was just %s for it does not run',
    async (at) => {
      const host = await startComfyUi({ runs: false });
      let cancel = async () => {};
      const url = await steppingProxyForTest(
        () => host.url,
        async (step) => {
          if (step.at === at && step.method === 'POST' && step.path === '/prompt') await cancel();
        },
      );
      const { asking } = await comfyUiServiceForTest({ url, workflows: workflows() });
      let id = '';
      const started = new Promise<void>((done) => {
        cancel = async () => {
          await vi.waitFor(() => expect(id).not.toBe(''));
          const path = `${asking.url}/users/tasks/${id}/cancel`;
          expect((await ask(path, { method: 'POST', token: asking.token })).status).toBe(200);
          done();
        };
      });
      id = await startTask(asking);
      await started;
      await waitForTask(asking, id, 'FAILED');
      await waitFor(() => expect([host.taken.length, host.pending]).toEqual([1, []]));
    },
  );

  it('whose results exceed the limit fails', async () => {
    const host = await startComfyUi();
    const { asking } = await comfyUiServiceForTest(
      { url: host.url, workflows: workflows() },
      { limits: { resultBytes: 10 } },
    );
    const id = await startTask(asking);
    await waitForTask(asking, id, 'FAILED');
    const { body } = await ask(`${asking.url}/users/tasks/${id}`, { token: asking.token });
    expect(body.reason).toBe('The workflow made files of more than 10 bytes.');
  });

  it('without a result fails', async () => {
    const graph = {
      '1': smallestGraph['1'],
      '2': { class_type: 'StringNode', inputs: { text: 'x', seed: '{{seed}}' } },
    };
    const served = await serve({}, graph);
    const id = await startTask(served.asking);
    expect(await readFailure(served, id)).toEqual({ reason: 'The workflow saved no image.', credits: 0 });
  });
});
