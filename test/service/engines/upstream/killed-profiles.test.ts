import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForTest } from '../../../support/service.js';
import {
  readCosts,
  readVendorCase,
  type StandIn,
  serviceOfVendorForTest,
  startVendorCase,
  type VendorCase,
  vendorCases,
} from '../../../support/vendors.js';
import { waitFor } from '../../../support/wait-for.js';
import { watchWrites } from '../../../support/watch-writes.js';

/** The disk and the vendor at the moment of a kill. */
interface Remains {
  readonly after: string;
  readonly data: string;
  readonly tasks: readonly { readonly id: string }[];
}

it.each(vendorCases)(
  'a task at $profile is made once and charged once after a kill behind any write',
  async (vendorCase) => {
    const data = folderForTest();
    const copies = folderForTest();
    const remains: Remains[] = [];
    let isWatched = true;
    const keep = (after: string) => {
      if (!isWatched) return;
      const copy = join(copies, String(remains.length));
      cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      remains.push({ after, data: copy, tasks: structuredClone([...vendor.tasks.values()]) });
    };
    // The vendor has started the task, but the service never gets the answer.
    const vendor = await vendorCase.start({ onMade: () => keep('the vendor starts the task') });
    const whole = await runToEnd(vendorCase, vendor, { data, wrote: keep, ahead: 0 });
    isWatched = false;
    expect(whole).toMatchObject({ status: vendorCase.done, made: 1 });

    const lost: string[] = [];
    for (const { after, data: left, tasks } of remains) {
      vendor.tasks.clear();
      for (const task of tasks) vendor.tasks.set(task.id, task);
      // Later than a task may be missing from the list of a vendor.
      const ended = await runToEnd(vendorCase, vendor, { data: left, ahead: 2 * 3_600_000 });
      const { charged } = ended;
      if (ended.status === vendorCase.done)
        expect(ended, after).toEqual({ ...ended, made: 1, costs: `charge ${charged}` });
      else {
        lost.push(after);
        expect(ended, after).toMatchObject({ costs: `charge ${charged}, waiver ${charged}` });
        expect(ended.made, after).toBe(tasks.length);
      }
      rmSync(left, { recursive: true });
    }
    // Only while its answer is awaited; Vidu lists its tasks.
    expect(lost).toEqual(vendorCase.findsLost ? [] : ['update tasks', 'the vendor starts the task']);
    expect(remains.length).toBeGreaterThan(8);
  },
);

async function runToEnd(
  vendorCase: VendorCase,
  vendor: StandIn,
  { data, ahead, wrote }: { data: string; ahead: number; wrote?: (what: string) => void },
) {
  const now = () => Date.now() + ahead;
  const service = await serviceOfVendorForTest(vendorCase, vendor, { data, graceMs: 0 }, { now });
  if (wrote) watchWrites(service.context, wrote);
  const id = await startVendorCase(vendorCase, service, 'one-task');
  const { status } = await waitFor(async () => {
    const task = await readVendorCase(vendorCase, service, id);
    expect([vendorCase.done, vendorCase.failed]).toContain(task.status);
    return task;
  });
  await waitFor(async () => expect(await service.context.queue.hasWorkBy(now() + 60_000)).toBe(false));
  const costs = await readCosts(service, id);
  await service.stop();
  return { status, costs, made: vendor.tasks.size, charged: vendorCase.kind === 'image' ? 5 : 30 };
}
