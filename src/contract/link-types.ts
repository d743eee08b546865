export interface PackTypes {
  readonly outputs: ReadonlySet<string>;
  /** Those of inputs, too. */
  readonly all: ReadonlySet<string>;
}

/** Whether an output of type `offered` can be connected to an input of type `wanted`. */
export type TypeCheck = (wanted: string, offered: string) => boolean;

/** Types of the host, which the nodes of other packs have as well. */
export const HOST_TYPES: ReadonlySet<string> = new Set(
  'AUDIO BOOLEAN CLIP CLIP_VISION CLIP_VISION_OUTPUT COMBO CONDITIONING CONTROL_NET FLOAT GLIGEN GUIDER HOOKS IMAGE INT LATENT MASK MODEL NOISE SAMPLER SIGMAS STRING STYLE_MODEL UPSCALE_MODEL VAE VIDEO WEBCAM'.split(
    ' ',
  ),
);

/** Links between the nodes of a pack outlast another name of the pack's own type, if it is used everywhere. */
export function createTypeCheck(old: PackTypes, now: PackTypes): TypeCheck {
  const isRename = (from: string, to: string) =>
    !HOST_TYPES.has(from) &&
    old.outputs.has(from) &&
    !now.all.has(from) &&
    now.outputs.has(to) &&
    !old.all.has(to);
  return (wanted, offered) =>
    acceptsValue(wanted, offered) || isRename(wanted, offered) || isRename(offered, wanted);
}

/** Types that match any other type. */
export const ANY_TYPES = ['*', 'COMFY_MATCHTYPE_V3'];

/** Both may list several types. */
function acceptsValue(wanted: string, offered: string): boolean {
  if (ANY_TYPES.includes(wanted) || ANY_TYPES.includes(offered)) return true;
  const types = wanted.split(',');
  return offered.split(',').every((type) => types.includes(type));
}
