// Parts of requests that no sound client sends, and that a service must refuse or ignore.

export const ODD_SEGMENTS = [
  '',
  'acme',
  '1.0.0',
  '..',
  '%00',
  '%2e%2e%2f',
  '%F0%9F%98%80',
  '%',
  '%c0',
  'a'.repeat(1500),
  '-1',
  '__proto__',
];
export const ODD_QUERIES = [
  '?',
  '?page=0',
  '?page=9007199254740993',
  '?limit=%00',
  '?page[]=1',
  '?statuses=x',
  '?%',
  '?search=%25_\\',
  '?=',
  '?&&&',
  '?__proto__=1',
  `?search=${'x'.repeat(3000)}`,
];
export const ODD_TYPES = [
  'application/json;charset=x',
  'text/plain',
  'x',
  '',
  'multipart/form-data; boundary=x',
];
