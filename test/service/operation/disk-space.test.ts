import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OWNER_ID } from '../../../src/service/operation/caller.js';
import { DiskSpace, type ReservedSpace } from '../../../src/service/operation/disk-space.js';
import { Refused } from '../../../src/service/operation/refused.js';

/** A disk of this many free bytes, 100 of which stay free, and what is stored on it. */
function createDisk(size: number) {
  const disk = { stored: 0 };
  const space = new DiskSpace({ folder: '', minFreeBytes: 100, measure: async () => size - disk.stored });
  const store = (reserved: ReservedSpace, bytes: number) => {
    disk.stored += bytes;
    reserved.use(bytes);
  };
  return { disk, space, store };
}

test('reservations of one user leave half of the remaining disk to others', async () => {
  const { space } = createDisk(1_100);
  await space.reserve('eve', 300);
  await expect(space.reserve('eve', 201)).rejects.toBeInstanceOf(Refused);
  await space.reserve('eve', 200);
  await expect(space.reserve('bob', 251)).rejects.toBeInstanceOf(Refused);
  await space.reserve('bob', 250);
  await space.reserve(OWNER_ID, 250);
  await expect(space.reserve(OWNER_ID, 1)).rejects.toBeInstanceOf(Refused);
});

test('an empty reservation can begin on a full disk, and cannot grow there', async () => {
  const { space, disk } = createDisk(150);
  disk.stored = 51;
  await expect((await space.reserve('bob')).grow(1)).rejects.toBeInstanceOf(Refused);
  await expect(space.requireFree()).rejects.toBeInstanceOf(Refused);
});

test('the minimum stays free however reservations, growth, storing and ends interleave', async () => {
  const user = fc.constantFrom('ann', 'bob', 'eve', OWNER_ID);
  const step = fc.record({ user, which: fc.nat(9), bytes: fc.integer({ min: 1, max: 900 }) });
  const kind = fc.constantFrom('reserve', 'reserve', 'grow', 'store', 'store', 'release');
  const steps = fc.array(fc.tuple(kind, step), { maxLength: 60 });
  let refused = 0;
  const property = fc.asyncProperty(steps, async (all) => {
    const { disk, space, store } = createDisk(2_000);
    const held: { space: ReservedSpace; left: number }[] = [];
    const refuse = (error: unknown) => {
      expect(error).toBeInstanceOf(Refused);
      refused += 1;
      return undefined;
    };
    // Steps in groups of three run at the same time.
    for (let at = 0; at < all.length; at += 3)
      await Promise.all(
        all.slice(at, at + 3).map(async ([what, { user: owner, which, bytes }]) => {
          const one = held[which % Math.max(held.length, 1)];
          if (what === 'reserve') {
            const reserved = await space.reserve(owner, bytes).catch(refuse);
            if (reserved) held.push({ space: reserved, left: bytes });
          } else if (what === 'grow' && one) {
            const grown = await one.space.grow(bytes).then(() => true, refuse);
            if (grown) one.left += bytes;
          } else if (what === 'store' && one) {
            const stored = Math.min(bytes, one.left);
            one.left -= stored;
            store(one.space, stored);
          } else if (what === 'release' && one) {
            held.splice(held.indexOf(one), 1);
            one.space.release();
          }
        }),
      );
    // All that was begun may be stored.
    const outstanding = held.reduce((sum, { left }) => sum + left, 0);
    expect(2_000 - disk.stored - outstanding).toBeGreaterThanOrEqual(100);
  });
  await fc.assert(property, { numRuns: 500, seed: 5 });
  expect(refused).toBeGreaterThan(100);
});
