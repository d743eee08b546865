/** Formats a number of bytes for people: `1.4 MB`. */
export function formatBytes(count: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const step = count < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  return step === 0 ? `${count} bytes` : `${(count / 1000 ** step).toFixed(1)} ${units[step]}`;
}
