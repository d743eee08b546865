/** The vendors whose profiles need no file. */
export const vendorNames = [
  ...(['regen', 'magnific', 'freepik', 'vidu', 'fal', 'replicate', 'openai'] as const),
  ...(['comfy-magnific', 'comfy-vidu'] as const),
] as const;
