import { afterAll, beforeAll, type TestContext, test } from 'vitest';
import { startRegen } from '../support/cli.js';
import { moveStore } from '../support/moved-store.js';
import { openSharedPlaces, type SharedPlaces } from '../support/shared-places.js';

let places: SharedPlaces | string;
beforeAll(async () => {
  places = await openSharedPlaces();
});
afterAll(async () => {
  if (typeof places !== 'string') await places.remove();
});

const requirePlaces = ({ skip }: TestContext): SharedPlaces =>
  typeof places === 'string' ? skip(places) : places;

test('the built program backs up, copies, serves, checks and restores data on disk, in PostgreSQL and in S3', async (context) => {
  await moveStore(
    requirePlaces(context),
    (argv, home, env) => startRegen(argv, { home, cwd: home, env }).ended,
  );
});
