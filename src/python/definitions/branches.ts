import { areEqual } from './comparison.js';
import { MAX_ITEMS } from './costs.js';
import { isDefinite, mergeAlternatives } from './operators.js';
import {
  type Container,
  countLists,
  createUnknown,
  type Ending,
  isKind,
  type Machine,
  type UnknownValue,
  type Value,
  type Way,
} from './values.js';

interface OpenWay {
  readonly before: Map<Container, Container>;
  /** How many lists were made before it: a later one is its own. */
  readonly lists: number;
}

interface Outcome {
  readonly ending: Ending;
  readonly after: ReadonlyMap<Container, Container>;
}

/**
 * Runs code that may take one of several ways: each from the same state, as if it were certain. What they leave behind is
 * put together into one state, in which a value that differs is several possible ones.
 */
export class Branches {
  #open: OpenWay[] = [];

  constructor(readonly machine: Machine) {}

  /** Whether it is unknown if what runs now is run at all. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** Must be called before a container is changed that others may see. */
  touch(container: Container, serial = 0): void {
    let copy: Container | undefined;
    for (const { before, lists } of this.#open.toReversed()) {
      if (serial > lists || before.has(container)) return;
      copy ??= this.#copy(container);
      before.set(container, copy);
    }
  }

  /** Runs what is certain whichever way called for it: the module that a branch imports. */
  runApart(work: () => void): void {
    const open = this.#open;
    this.#open = [];
    try {
      work();
    } finally {
      this.#open = open;
    }
  }

  /** @param choice what decides, which shows in the values that differ */
  runAlternatives(ways: readonly Way[], choice: UnknownValue): Ending {
    const before = new Map<Container, Container>();
    const all = ways.map(({ run, own }) => ({ own, ...this.#attempt(run, before) }));
    // A way that ends in an error is one that is not taken.
    const sound = all.filter(({ ending }) => ending !== 'raise');
    const taken = sound.length > 0 ? sound : all.slice(0, 1);
    for (const [container, start] of before) {
      const lasting = taken.filter(({ ending, own }) => ending !== 'return' || own !== container);
      const states = (lasting.length > 0 ? lasting : taken).map(({ after }) => after.get(container) ?? start);
      this.touch(container);
      // What stays as it was goes first, because the rest is often a stand-in for it.
      states.sort((a, b) => Number(b === start) - Number(a === start));
      restore(container, this.#join(states, start, choice));
    }
    const [first] = taken;
    return taken.every(({ ending }) => ending === first?.ending) ? first?.ending : undefined;
  }

  /** What code is worth that gives one of several values, each worked out as if it were certain. */
  chooseValue(works: readonly (() => Value)[], choice: UnknownValue): Value {
    const results: Value[] = [];
    const ways = works.map((work) => ({
      run: () => {
        results.push(work());
        return undefined;
      },
    }));
    this.runAlternatives(ways, choice);
    const [first = choice, ...others] = results;
    return others.reduce((all, one) => mergeAlternatives(all, one, choice, this.machine), first);
  }

  /** Runs the handler of an error that is taken not to happen: it only fills what is missing. */
  runFallback(run: () => Ending): void {
    const before = new Map<Container, Container>();
    const { after } = this.#attempt(run, before);
    for (const [container, start] of before) {
      const other = after.get(container) ?? start;
      this.touch(container);
      if (Array.isArray(start)) restore(container, addDefinite(start as Value[], other as Value[]));
      else if (other instanceof Map)
        for (const [key, value] of other) {
          const known = start.get(key);
          const isOpen = isKind(known, 'unknown') && known !== value;
          const filled = isOpen
            ? mergeAlternatives(known, value, createUnknown(known.text), this.machine)
            : value;
          if (known === undefined || isOpen) (container as typeof other).set(key, filled);
        }
    }
  }

  #attempt(run: () => Ending, started: Map<Container, Container>): Outcome {
    const before = new Map<Container, Container>();
    this.#open.push({ before, lists: countLists() });
    let ending: Ending;
    try {
      // A way takes more of the engine's stack than a statement.
      ending = this.machine.nest(run, 3);
    } finally {
      this.#open.pop();
    }
    const after = new Map<Container, Container>();
    for (const [container, start] of before) {
      after.set(container, this.#copy(container));
      restore(container, start);
      if (!started.has(container)) started.set(container, start);
    }
    return { ending, after };
  }

  #copy(container: Container): Container {
    if (Array.isArray(container)) {
      this.machine.spend(1 + (container.length >> 1));
      return [...container];
    }
    this.machine.spend(1 + container.size);
    return new Map(container);
  }

  #join(states: readonly Container[], start: Container, choice: UnknownValue): Container {
    const [first = start, ...others] = states;
    return others.reduce((joined, state) => {
      this.machine.spend(Array.isArray(state) ? state.length >> 1 : state.size);
      return Array.isArray(state)
        ? this.#joinItems(joined as Value[], state as Value[], choice)
        : this.#joinEntries(joined as Map<unknown, Value>, state, choice);
    }, first);
  }

  #joinEntries(
    joined: Map<unknown, Value>,
    state: Map<unknown, Value>,
    choice: UnknownValue,
  ): Map<unknown, Value> {
    const result = new Map(joined);
    for (const [key, value] of state) {
      const known = result.get(key);
      if (known === undefined) result.set(key, value);
      else if (known !== value) result.set(key, mergeAlternatives(known, value, choice, this.machine));
    }
    return result;
  }

  #joinItems(joined: Value[], state: Value[], choice: UnknownValue): Value[] {
    if (joined.length === state.length) {
      const isSame = (item: Value, at: number) =>
        item === state[at] || areEqual(item, state[at] ?? null, this.machine) === true;
      if (joined.every(isSame)) return joined;
    }
    const [all, other] = [new Set([...joined, ...state]), new Set(state)];
    const result = [...all].slice(0, MAX_ITEMS);
    if (isEntries(result)) return result;
    const known = new Set(joined);
    const isSure = (item: Value) => isDefinite(item) || (known.has(item) && other.has(item));
    // What registers nodes is listed whichever way is taken; of choices and the like there may be fewer.
    return result.every(isSure) ? result : [...result, { ...choice, many: true }];
  }
}

/** Whether an array is what a dict holds under computed keys, which needs no mark that there may be more. */
function isEntries(items: readonly unknown[]): boolean {
  const [first] = items as { readonly key?: unknown; readonly kind?: string }[];
  return typeof first === 'object' && first !== null && first.kind === undefined;
}

/** Adds what registers nodes, which is listed whichever way is taken. */
function addDefinite(items: readonly Value[], more: readonly Value[]): Value[] {
  const known = new Set(items);
  const added = more.filter((item) => !known.has(item) && isDefinite(item));
  return [...items, ...added].slice(0, MAX_ITEMS);
}

function restore(container: Container, content: Container): void {
  if (Array.isArray(container)) {
    container.length = 0;
    for (const item of content as unknown[]) container.push(item);
    return;
  }
  container.clear();
  for (const [key, value] of content as Map<unknown, Value>) container.set(key, value);
}
