/** The data folder cannot be used as it is; the message says what to do. */
export class DataUnusable extends Error {
  override readonly name = 'DataUnusable';
}
