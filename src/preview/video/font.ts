/** Columns and rows of a letter in dots. */
export const LETTER = { width: 5, height: 8 } as const;

/** Space to `~`, drawn for this program: five columns of two hexadecimal digits, whose lowest bit is the top. */
const LETTERS =
  '000000000000005f00000007000700147f147f14242a7f2a12231308646236495620500000070000001c2241000041221c002a1c7f1c2a08083e080800503000000808080808006060000020100804023e5149453e00427f4000724949494622414949361814127f1027454545393c4a49493141211109073649494936464949291e0036360000005636000008142241001414141414004122140802015909063e415d594e7c1211127c7f494949363e414141227f4141413e7f494949417f090909013e414151737f0808087f00417f41002040413f017f081422417f404040407f021c027f7f0408107f3e4141413e7f090909063e4151215e7f09192946264949493201017f01013f4040403f1f2040201f3f4038403f631408146303047804036159494d43007f4141410204081020004141417f04020102044040404040000307080020545478407f284444383844444428384444287f385454541800087e090218a4a49c787f0804047800447d40002040403d007f1028440000417f40007c047804787c080404783844444438fc1824241818242418fc7c08040408485454542404043f44243c4040207c1c2040201c3c4030403c44281028444c9090907c4464544c440008364100000077000000413608000201020402';
const MISSING = '7f4141417f';

/** What compatibility decomposition does not turn into ASCII, with its spelling. */
const SPELLINGS = new Map(
  'ßss æae ÆAE œoe ŒOE øo ØO đd ĐD łl ŁL ıi þth ÞTh ðd ÐD ‘\' ’\' “" ”" „" «" »" –- —- −- ×x ·. •* →-> €EUR'
    .split(' ')
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);

/** Writes text in ASCII: accents are left out, and other signs become a character that is drawn as a box. */
export function toAscii(text: string): string {
  const plain = text.normalize('NFKD').replace(/\p{M}|\p{Cf}/gu, '');
  return plain.replace(/[^\x20-\x7e]/gu, (sign) => SPELLINGS.get(sign) ?? (/\s/u.test(sign) ? ' ' : '\x7f'));
}

/** The columns of a letter of `toAscii`, whose lowest bit is the top. */
export function readColumns(letter: string): readonly number[] {
  const place = (letter.charCodeAt(0) - 32) * 2 * LETTER.width;
  const digits = LETTERS.slice(place, place + 2 * LETTER.width) || MISSING;
  return [0, 2, 4, 6, 8].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
}
