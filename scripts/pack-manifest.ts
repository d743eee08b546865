import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const KEPT = 'package.json.unpacked';

/**
 * Leaves out of the packed package.json what only a clone needs: npm warns of install scripts such as `prepare` at every
 * install. `npm pack` runs this before and after it reads the file.
 */
function removeBuildFields(): void {
  // Left by a pack that was killed.
  if (!existsSync(KEPT)) writeFileSync(KEPT, readFileSync('package.json'));
  const {
    scripts: _,
    devDependencies: __,
    allowScripts: ___,
    ...kept
  } = JSON.parse(readFileSync(KEPT, 'utf8'));
  writeFileSync('package.json', `${JSON.stringify(kept, null, 2)}\n`);
}

if (process.argv[2] === 'after') renameSync(KEPT, 'package.json');
else removeBuildFields();
