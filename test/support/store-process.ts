import { Store } from '../../src/cli/connect/store.js';

/** Adds keys to a file of settings, one change for each: `<file> <key...>`. */
const [file, ...keys] = process.argv.slice(2) as [string, ...string[]];

const store = new Store(file, () => {});
for (const key of keys) await store.change((values) => ({ ...values, [key]: key }));
