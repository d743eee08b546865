/** Finds the name that a mistyped word most likely means: at most a third of its letters are wrong. */
export function findNearest(word: string, names: readonly string[]): string | undefined {
  const begun = word.length < MIN_BEGINNING ? [] : names.filter((name) => name.startsWith(`${word}-`));
  if (begun.length === 1) return begun[0];
  const far = names.map((name) => ({ name, edits: countEdits(word, name) }));
  const [best] = far.sort((one, other) => one.edits - other.edits);
  return best && best.edits * 3 <= Math.max(word.length, best.name.length) ? best.name : undefined;
}

const MIN_BEGINNING = 3;

/** Counts the letters that are inserted, removed or replaced between two words, and the neighbors that are swapped. */
function countEdits(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, counterpart] of [...other].entries()) {
      const changed = (row[at] as number) + (letter === counterpart ? 0 : 1);
      const isSwapped = index > 0 && letter === other[at - 1] && one[index - 1] === counterpart;
      const swapped = isSwapped ? (before[at - 1] as number) + 1 : changed;
      next.push(Math.min(changed, swapped, (row[at + 1] as number) + 1, (next[at] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row[other.length] as number;
}
