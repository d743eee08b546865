/** The data folder cannot be used as it is; the message says what to do. */
export class DataUnusable extends Error {
  override readonly name = 'DataUnusable';
  readonly code = 'data_unusable';
}

/** A newer release changed the data while this one ran, so that this one must not write any more. */
export class DataUpgraded extends Error {
  override readonly name = 'DataUpgraded';
  readonly code = 'data_upgraded';
}

/** The database file was removed or replaced while the service ran, so nothing that it writes would be kept. */
export class StoreLost extends Error {
  override readonly name = 'StoreLost';
  readonly code = 'store_lost';

  constructor(readonly path: string) {
    super(`${path} was removed or replaced while the service ran; nothing is written until it is restarted.`);
  }
}
