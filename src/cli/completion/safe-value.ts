/** Whether no shell takes a value for more than one word. */
export function isSafeValue(value: string): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,255}$/.test(value);
}
