/** The port of `regen serve` and of the embedded service, unless another one is set. */
export const STANDARD_PORT = 7717;
