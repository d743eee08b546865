import { describe, expect, it } from 'vitest';
import {
  FILE_FAULTS,
  faultyVendorForTest,
  REFUSALS,
  UNCLEAR,
  type VendorExchange,
  type VendorFault,
} from '../../../support/vendor-faults.js';
import {
  readCosts,
  readVendorCase,
  serviceOfVendorForTest,
  startVendorCase,
  type VendorCase,
  vendorCases,
} from '../../../support/vendors.js';
import { waitFor } from '../../../support/wait-for.js';

/** A service in front of a vendor, which answers some requests with the faults that are set. */
async function startFaulty(
  vendorCase: VendorCase,
  isFaulty: (exchange: VendorExchange) => boolean,
  isDone = true,
) {
  const standIn = await vendorCase.start();
  let faults: VendorFault[] = [];
  const choose = (one: VendorExchange) => (isFaulty(one) ? faults.shift() : undefined);
  const vendor = await faultyVendorForTest(standIn, choose, isDone);
  const service = await serviceOfVendorForTest(vendorCase, vendor);
  /** Runs one task. @returns its status and costs, and how many tasks the vendor made */
  const run = async (given: readonly VendorFault[]) => {
    faults = [...given];
    const before = standIn.tasks.size;
    const id = await startVendorCase(vendorCase, service);
    const { status, results } = await waitFor(async () => {
      const task = await readVendorCase(vendorCase, service, id);
      expect([vendorCase.done, vendorCase.failed]).toContain(task.status);
      return task;
    });
    for (const url of results) expect((await fetch(url)).status).toBe(200);
    const { database } = service.context;
    const [row] = await database.selectFrom('tasks').select('error_code').where('id', '=', id).execute();
    const made = standIn.tasks.size - before;
    return { status, made, left: faults.length, costs: await readCosts(service, id), code: row?.error_code };
  };
  return { run };
}

const isStart = ({ method }: VendorExchange) => method === 'POST';
const isLook = ({ method, path }: VendorExchange) => method === 'GET' && !path.includes('/files/');
const isFile = ({ path }: VendorExchange) => path.includes('/files/');

describe.each(vendorCases)('$profile', (vendorCase) => {
  const price = vendorCase.kind === 'image' ? 5 : 30;
  const once = { status: vendorCase.done, made: 1, left: 0, costs: `charge ${price}`, code: null };

  it('makes a task once with each kind of answer to its start', async () => {
    const { run } = await startFaulty(vendorCase, isStart);
    for (const [name, fault] of Object.entries(UNCLEAR)) {
      const lost = {
        ...once,
        ...{ status: vendorCase.failed, code: 'vendor_answer_lost' },
        costs: `charge ${price}, waiver ${price}`,
      };
      expect(await run([fault]), name).toEqual(vendorCase.findsLost ? once : lost);
    }
  });

  it('is asked again while it refuses to start a task', async () => {
    const { run } = await startFaulty(vendorCase, isStart, false);
    for (const [name, fault] of Object.entries(REFUSALS))
      expect(await run([fault, fault]), name).toEqual(once);
  });

  it('is asked once if it does not implement the start', async () => {
    const { run } = await startFaulty(vendorCase, isStart, false);
    const missing: VendorFault = (response) => void response.writeHead(501).end('{}');
    const refused = { status: vendorCase.failed, made: 0, left: 0, code: 'vendor_refused' };
    expect(await run([missing])).toMatchObject(refused);
  });

  it('is asked again while its answers are no status', async () => {
    const { run } = await startFaulty(vendorCase, isLook);
    const forgotten: VendorFault = (response) => void response.writeHead(404).end('{}');
    for (const [name, fault] of Object.entries({ ...REFUSALS, ...UNCLEAR, forgotten }))
      expect(await run([fault, fault]), name).toEqual(once);
  });

  it('is asked again for files that do not arrive whole', async () => {
    const { run } = await startFaulty(vendorCase, isFile);
    for (const [name, fault] of Object.entries(FILE_FAULTS))
      expect(await run([fault, fault]), name).toEqual(once);
  });
});
