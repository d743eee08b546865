/** The data folder cannot be used as it is; the message says what to do. */
export class DataUnusable extends Error {
  override readonly name = 'DataUnusable';
}

/** A newer release changed the data while this one ran, so that this one must not write any more. */
export class DataUpgraded extends Error {
  override readonly name = 'DataUpgraded';
}

/** The database file was removed or replaced while the service ran, so nothing that it writes would be kept. */
export class StoreLost extends Error {
  override readonly name = 'StoreLost';

  constructor(readonly path: string) {
    super(`${path} was removed or replaced while the service ran; nothing is written until it is restarted.`);
  }
}
