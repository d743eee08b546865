/** The one of `names` that a mistyped word most likely means, if any is near: up to a third of its letters are wrong. */
export function findNearest(word: string, names: readonly string[]): string | undefined {
  const far = names.map((name) => ({ name, edits: editsBetween(word, name) }));
  const [best] = far.sort((one, other) => one.edits - other.edits);
  return best && best.edits * 3 <= Math.max(word.length, best.name.length) ? best.name : undefined;
}

/** How many letters are put in, left out or changed between two words (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, counterpart] of [...other].entries()) {
      const changed = (row[at] as number) + (letter === counterpart ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] as number) + 1, (next[at] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
}
