import { z } from 'zod';
import { emphasis } from './rules/emphasis.js';
import { exclusive } from './rules/fields.js';
import { httpsOnly, imageValues } from './rules/images.js';
import { withRules } from './rules/rule.js';
import { WebAddress } from './values.js';

// Decided: an unknown field of a generation request is refused, because a typo costs credits. `strictObject` says so
// here and in video-requests.ts.

const percent = () => z.int().min(0).max(100);
const level = () => z.number().min(0).max(100).default(50);
const webhook_url = WebAddress.optional().meta({
  description: 'Called whenever the task changes status',
});
const sourceImage = z.string().min(1).meta({ description: 'Base64 or URL of the image' });

// Decided: what the settings may be. The five numbers are 0 to 100, and 50 where absent.
/** service.md 4.1.1, `advanced_settings`; `AdvancedSettings.parse({})` gives the defaults. */
export const AdvancedSettings = z
  .strictObject({
    blacks: level().meta({ description: 'Level of the blacks' }),
    brightness: level().meta({ description: 'Brightness' }),
    contrast: level().meta({ description: 'Contrast' }),
    saturation: level().meta({ description: 'Saturation' }),
    whites: level().meta({ description: 'Level of the whites' }),
    engine: z
      .enum([
        ...(['automatic', 'balanced', 'cool', 'real', 'illusio', 'fairy'] as const),
        ...(['colorful_anime', 'hard_transform', 'softy'] as const),
      ])
      .optional()
      .meta({ description: 'How the image is made' }),
    transfer_light_a: z
      .enum(['automatic', 'low', 'medium', 'normal', 'high', 'high_on_faces'])
      .optional()
      .meta({ description: 'How strongly light is transferred' }),
    transfer_light_b: z
      .enum([
        ...(['automatic', 'composition', 'straight', 'smooth_in', 'smooth_out', 'smooth_both'] as const),
        ...(['reverse_both', 'soft_in', 'soft_out', 'soft_mid', 'strong_mid'] as const),
        ...(['style_shift', 'strong_shift'] as const),
      ])
      .optional()
      .meta({ description: 'How light is blended in' }),
    fixed_generation: z
      .boolean()
      .optional()
      .meta({ description: 'The same settings always produce the same image' }),
  })
  .meta({ id: 'AdvancedSettings' });

// Decided: relight needs an image; its defaults.
export const RelightRequest = withRules(
  z.strictObject({
    image: sourceImage,
    advanced_settings: AdvancedSettings.optional(),
    change_background: z
      .boolean()
      .default(true)
      .meta({ description: 'Change the background based on prompt and reference image' }),
    interpolate_from_original: z.boolean().default(false).meta({
      description: 'Let the final image interpolate from the original, using light_transfer_strength',
    }),
    light_transfer_strength: percent()
      .default(100)
      .meta({ description: '0 stays closest to the original, 100 is maximum transfer' }),
    preserve_details: z.boolean().default(true).meta({ description: 'Keep texture and small details' }),
    prompt: z
      .string()
      .optional()
      .meta({ description: 'Guides the light transfer; emphasis from 1 to 1.4 as in (warm light:1.2)' }),
    style: z
      .enum([
        ...(['standard', 'darker_but_realistic', 'clean', 'smooth', 'brighter'] as const),
        ...(['contrasted_n_hdr', 'just_composition'] as const),
      ])
      .default('standard')
      .meta({ description: 'Look of the result' }),
    transfer_light_from_lightmap: z.string().min(1).optional().meta({
      description: 'Base64 or URL of a lightmap; not with transfer_light_from_reference_image',
    }),
    transfer_light_from_reference_image: z.string().min(1).optional().meta({
      description: 'Base64 or URL of a reference image; not with transfer_light_from_lightmap',
    }),
    webhook_url,
  }),
  // Decided: a lightmap and a reference image together are refused before anything starts.
  exclusive('transfer_light_from_lightmap', 'transfer_light_from_reference_image'),
  emphasis('prompt'),
  imageValues('image', 'transfer_light_from_lightmap', 'transfer_light_from_reference_image'),
).meta({ id: 'RelightRequest' });

// Decided: style transfer needs both images; its defaults. portrait_* without is_portrait are accepted and ignored.
export const StyleTransferRequest = withRules(
  z.strictObject({
    image: sourceImage,
    reference_image: z.string().min(1).meta({ description: 'Base64 or URL of the style reference' }),
    engine: z
      .enum([
        ...(['balanced', 'definio', 'illusio', '3d_cartoon', 'colorful_anime', 'caricature'] as const),
        ...(['real', 'super_real', 'softy'] as const),
      ])
      .default('balanced')
      .meta({ description: 'How the image is made' }),
    fixed_generation: z
      .boolean()
      .optional()
      .meta({ description: 'The same settings always produce the same image' }),
    flavor: z
      .enum([
        ...(['faithful', 'gen_z', 'psychedelia', 'detaily'] as const),
        ...(['clear', 'donotstyle', 'donotstyle_sharp'] as const),
      ])
      .default('faithful')
      .meta({ description: 'Flavor of the style' }),
    is_portrait: z.boolean().default(false).meta({ description: 'Process the image as a portrait' }),
    portrait_beautifier: z
      .enum(['beautify_face', 'beautify_face_max'])
      .optional()
      .meta({ description: 'Beautify the face; used only if is_portrait is true' }),
    portrait_style: z
      .enum(['standard', 'pop', 'super_pop'])
      .default('standard')
      .meta({ description: 'Style of a portrait; used only if is_portrait is true' }),
    prompt: z.string().optional().meta({ description: 'Prompt for the model' }),
    structure_strength: percent()
      .default(50)
      .meta({ description: 'How much of the structure of the original is kept' }),
    style_strength: percent().default(100).meta({ description: 'Percentage of style strength' }),
    webhook_url,
  }),
  imageValues('image', 'reference_image'),
).meta({ id: 'StyleTransferRequest' });

export const SkinEnhancerRequest = withRules(
  z.strictObject({
    image: z.string().min(1).meta({ description: 'Base64 or a publicly accessible HTTPS URL' }),
    sharpen: percent().default(0).meta({ description: 'Sharpening' }),
    smart_grain: percent().default(2).meta({ description: 'Grain that keeps skin from looking flat' }),
    webhook_url,
  }),
  imageValues('image'),
  httpsOnly('image'),
).meta({ id: 'SkinEnhancerRequest' });

export const UpscalerRequest = withRules(
  z.strictObject({
    image: sourceImage,
    sharpen: percent().default(7).meta({ description: 'Sharpening' }),
    smart_grain: percent().default(7).meta({ description: 'Grain that keeps surfaces from looking flat' }),
    ultra_detail: percent().default(30).meta({ description: 'Detail that is added' }),
    flavor: z
      .enum(['sublime', 'photo', 'photo_denoiser'])
      .optional()
      .meta({ description: 'What the image is, or shall become' }),
    // Decided: twice as large where absent.
    scale_factor: z.int().min(2).max(16).default(2).meta({ description: 'How many times larger' }),
    webhook_url,
  }),
  imageValues('image'),
).meta({ id: 'UpscalerRequest' });
