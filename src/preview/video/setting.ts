import { createRandom, hashText } from '../image/random.js';
import type { Rgb, ShapeName } from './shapes.js';

/** The light at a time of day. */
export interface Hour {
  /** From the zenith down to the horizon. */
  readonly sky: readonly [Rgb, Rgb, Rgb];
  /** The sun or the moon, and its height, 0 at the horizon. */
  readonly orb?: { readonly colour: Rgb; readonly height: number };
  /** The factor that it applies to colours. */
  readonly light: Rgb;
  readonly stars: number;
}

/** The landscape below the sky. */
export interface Place {
  readonly ridge: 'hills' | 'peaks' | 'trees' | 'towers' | 'dunes' | 'none';
  readonly ridges: number;
  readonly near: Rgb;
  /** Where the ground begins, as a part of the height from the top. */
  readonly horizon: number;
  readonly water?: Rgb;
}

export type Weather = 'clear' | 'rain' | 'snow' | 'petals' | 'fireflies' | 'dust';

/** @param hex such as `5c76be` */
function rgb(hex: string): Rgb {
  const [red = 0, green = 0, blue = 0] = Buffer.from(hex, 'hex');
  return [red, green, blue];
}

const HOURS = {
  dawn: {
    sky: [rgb('5c76be'), rgb('e6a2b2'), rgb('ffdcb0')],
    orb: { colour: [255, 232, 190], height: 0.12 },
    light: [0.92, 0.84, 0.86],
    stars: 0,
  },
  day: {
    sky: [rgb('3074d0'), rgb('78b6ee'), rgb('d8ecfa')],
    orb: { colour: [255, 250, 226], height: 0.62 },
    light: [1, 1, 0.98],
    stars: 0,
  },
  sunset: {
    sky: [rgb('2e3070'), rgb('ce5c68'), rgb('ffbc62')],
    orb: { colour: [255, 220, 140], height: 0.1 },
    light: [0.78, 0.6, 0.6],
    stars: 0.15,
  },
  night: {
    sky: [rgb('070b22'), rgb('14204c'), rgb('3c4e82')],
    orb: { colour: [238, 242, 252], height: 0.66 },
    light: [0.3, 0.36, 0.52],
    stars: 1,
  },
  grey: {
    sky: [rgb('606c7a'), rgb('8e9aa6'), rgb('c4ccd0')],
    light: [0.72, 0.76, 0.8],
    stars: 0,
  },
} satisfies Record<string, Hour>;

const PLACES = {
  lake: { ridge: 'hills', ridges: 3, near: [52, 92, 78], horizon: 0.64, water: [36, 78, 104] },
  sea: { ridge: 'hills', ridges: 1, near: [70, 96, 110], horizon: 0.58, water: [24, 84, 122] },
  hills: { ridge: 'hills', ridges: 4, near: [92, 146, 66], horizon: 0.78 },
  forest: { ridge: 'trees', ridges: 4, near: [30, 78, 52], horizon: 0.82 },
  mountains: { ridge: 'peaks', ridges: 4, near: [64, 84, 92], horizon: 0.8 },
  city: { ridge: 'towers', ridges: 3, near: [54, 60, 84], horizon: 0.84 },
  desert: { ridge: 'dunes', ridges: 4, near: [222, 162, 92], horizon: 0.76 },
  winter: { ridge: 'peaks', ridges: 4, near: [226, 234, 246], horizon: 0.78 },
  space: { ridge: 'none', ridges: 0, near: [40, 40, 60], horizon: 1.1 },
} satisfies Record<string, Place>;

interface WordMeaning {
  readonly hour?: keyof typeof HOURS;
  readonly place?: keyof typeof PLACES;
  readonly weather?: Weather;
  readonly subject?: ShapeName;
}

/** The meaning of words in a prompt and of words that begin with them; the first word wins. */
const WORDS: readonly (readonly [words: string, WordMeaning])[] = [
  ['dawn morning sunrise', { hour: 'dawn' }],
  ['noon sunny', { hour: 'day' }],
  ['sunset evening dusk golden', { hour: 'sunset' }],
  ['night moon star dark', { hour: 'night' }],
  ['neon', { hour: 'night', place: 'city' }],
  ['fog mist cloud', { hour: 'grey' }],
  ['storm rain', { hour: 'grey', weather: 'rain' }],
  ['snow winter', { place: 'winter', weather: 'snow' }],
  ['ice', { place: 'winter' }],
  ['blossom petal spring', { weather: 'petals' }],
  ['firefl', { hour: 'night', weather: 'fireflies' }],
  ['magic', { weather: 'fireflies' }],
  ['dust', { weather: 'dust' }],
  ['lake river pond', { place: 'lake' }],
  ['sea ocean beach wave harbo', { place: 'sea' }],
  ['hill meadow field garden', { place: 'hills' }],
  ['village', { place: 'hills', subject: 'house' }],
  ['forest wood jungle', { place: 'forest' }],
  ['mountain alp', { place: 'mountains' }],
  ['city street tokyo', { place: 'city' }],
  ['desert', { place: 'desert', weather: 'dust' }],
  ['sand dune', { place: 'desert' }],
  ['space galax', { place: 'space', hour: 'night' }],
  ['planet', { place: 'space', hour: 'night', subject: 'planet' }],
  ['paper', { subject: 'paperBoat' }],
  ['boat', { subject: 'paperBoat', place: 'lake' }],
  ['ship sail yacht', { subject: 'sailBoat', place: 'sea' }],
  ['whale dolphin fish', { subject: 'whale', place: 'sea' }],
  ['house home cabin', { subject: 'house' }],
  ['tree oak', { subject: 'tree' }],
  ['balloon', { subject: 'balloon' }],
  ['bird', { subject: 'bird' }],
  ['gull', { subject: 'bird', place: 'sea' }],
  ['eagle dragon', { subject: 'bird', place: 'mountains' }],
  ['lantern lamp', { subject: 'lantern', hour: 'night' }],
  ['lighthouse', { subject: 'lighthouse', place: 'sea' }],
  ['tower', { subject: 'lighthouse' }],
  ['castle', { subject: 'castle' }],
  ['car', { subject: 'car' }],
  ['taxi', { subject: 'car', place: 'city' }],
  ['rocket astronaut', { subject: 'rocket', place: 'space', hour: 'night' }],
  ['flower rose', { subject: 'flower' }],
  ['cat dog', { subject: 'cat' }],
  ['fox', { subject: 'cat', place: 'forest' }],
];
const MEANINGS = new Map(
  WORDS.flatMap(([words, meaning]) => words.split(' ').map((word) => [word, meaning])),
);

/** The time, place, weather and subject of a scene. */
export interface Setting {
  readonly hour: Hour;
  readonly place: Place;
  readonly weather: Weather;
  readonly subject: ShapeName;
}

const FLOATING: ReadonlySet<ShapeName> = new Set(['paperBoat', 'sailBoat', 'whale']);

/** Short words must match exactly or as a plural: a caravan is not a car. */
function matchesWord(word: string, known: string): boolean {
  return known.length > 3 ? word.startsWith(known) : word === known || word === `${known}s`;
}

/** Reads the setting from a prompt; the seed chooses what the words leave open. */
export function readSetting(prompt: string, seed: number): Setting {
  const next = createRandom(seed ^ hashText(prompt));
  const one = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)] as Item;
  // All are chosen in any case, so that a word only changes its own aspect.
  const chosen = {
    hour: one(['dawn', 'day', 'sunset', 'night'] as const),
    place: one(['lake', 'hills', 'mountains', 'sea', 'forest'] as const),
    weather: 'clear',
    subject: one(['balloon', 'tree', 'bird', 'house', 'sailBoat'] as const),
  } as const;
  const found: WordMeaning = {};
  for (const [word] of prompt.toLowerCase().matchAll(/\p{L}+/gu)) {
    const known = [...MEANINGS.keys()].find((one) => matchesWord(word, one));
    if (known) Object.assign(found, { ...MEANINGS.get(known), ...found });
  }
  const subject = found.subject ?? chosen.subject;
  const named = found.place ?? chosen.place;
  // A boat needs water.
  const place = FLOATING.has(subject) && !('water' in PLACES[named]) ? 'lake' : named;
  return {
    hour: HOURS[found.hour ?? chosen.hour],
    place: PLACES[place],
    weather: found.weather ?? chosen.weather,
    subject: place === 'space' && !found.subject ? 'planet' : subject,
  };
}
