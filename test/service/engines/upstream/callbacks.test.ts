import { describe, expect, it } from 'vitest';
import {
  readCosts,
  readVendorCase,
  serviceOfVendorForTest,
  startVendorCase,
  type VendorCase,
  vendorCases,
} from '../../../support/vendors.js';
import { waitFor } from '../../../support/wait-for.js';

const running = { magnific: 'IN_PROGRESS', vidu: 'processing' };

/** A task that its vendor works on. */
async function startWaiting(vendorCase: VendorCase, isEarly = false) {
  const state = running[vendorCase.profile as keyof typeof running];
  const onMade = async (task: object) => {
    if (isEarly) expect(await vendor.call(task, vendorCase.done)).toBe(204);
  };
  const vendor = await vendorCase.start({ states: [state], onMade });
  const service = await serviceOfVendorForTest(vendorCase, vendor);
  const id = await startVendorCase(vendorCase, service);
  await waitFor(() => expect(vendor.tasks.size).toBe(1));
  const [task] = [...vendor.tasks.values()];
  const waitForEnd = (status = vendorCase.done) =>
    waitFor(async () => {
      const found = await readVendorCase(vendorCase, service, id);
      expect(found.status).toBe(status);
      return found;
    });
  const callbackUrl: string = task.body.webhook_url ?? task.body.callback_url;
  return { ...{ vendor, service, id, task, state, callbackUrl }, waitForEnd };
}

describe.each(vendorCases.filter(({ profile }) => profile in running))('a callback of $profile', (one) => {
  it('ends a task even if it comes before the answer to its start', async () => {
    const { waitForEnd, vendor } = await startWaiting(one, true);
    expect((await waitForEnd()).results).toHaveLength(1);
    expect(vendor.tasks.size).toBe(1);
  });

  it('counts once, however often it comes, and changes nothing once the task has ended', async () => {
    const { vendor, task, waitForEnd, service, id } = await startWaiting(one);
    const calls = await Promise.all([1, 2, 3].map(() => vendor.call(task, one.done)));
    expect(calls).toEqual([204, 204, 204]);
    const { results } = await waitForEnd();
    const paths = (urls: readonly string[]) => urls.map((url) => new URL(url).pathname);
    expect(await vendor.call(task, one.failed)).toBe(204);
    const after = await readVendorCase(one, service, id);
    expect([after.status, paths(after.results)]).toEqual([one.done, paths(results)]);
    expect(await readCosts(service, id)).not.toContain('refund');
  });

  it('that is overtaken by an older one does not keep the task from ending', async () => {
    const { vendor, task, state, waitForEnd } = await startWaiting(one);
    task.state = one.done;
    await Promise.all([vendor.call(task, one.done), vendor.call(task, state)]);
    await vendor.call(task, state);
    await waitForEnd();
  });

  it('is refused if its URL is not exactly that of the task', async () => {
    const { callbackUrl, service, id, vendor, task, waitForEnd, state } = await startWaiting(one);
    const genuine = new URL(callbackUrl);
    const other = `${genuine.origin}/vendor-callbacks/00000000-0000-4000-8000-000000000000${genuine.search}`;
    const body = JSON.stringify({ state: one.failed, status: one.failed });
    const headers = { 'content-type': 'application/json' };
    for (const url of [other, `${genuine.origin}${genuine.pathname}`, `${callbackUrl}A`])
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(403);
    for (const strange of ['[]', '"x"', 'null', '{"state":{}}', `{"status":"${state}","generated":7}`])
      expect((await fetch(callbackUrl, { method: 'POST', headers, body: strange })).status).toBe(204);
    expect((await readVendorCase(one, service, id)).status).not.toBe(one.failed);
    await vendor.call(task, one.done);
    await waitForEnd();
  });
});
