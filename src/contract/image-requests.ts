import { z } from 'zod';
import { explain } from './schema/explain.js';
import { excludeEachOther, limitEmphasis } from './schema/field-rules.js';
import { IMAGE_FORM, requireHttps, requireImages } from './schema/image-rules.js';
import { say } from './schema/message.js';
import { withRules } from './schema/rule.js';
import { choice, defineRequest, text, WebAddress } from './schema/values.js';

// Decided: unknown fields of a generation request are refused, because a typo costs credits: hence
// `strictObject`, here and in video-requests.ts.

const percent = () => z.int().min(0).max(100);
const level = () => z.number().min(0).max(100).default(50);
const webhook_url = WebAddress.optional().describe('Callback URL, notified whenever the task changes status');
const sourceImage = explain(z.string().min(1), say`${IMAGE_FORM} of the image`);

// Decided: the values of the settings. The five numbers are 0 to 100, by default 50.
/** service.md 4.1.1, `advanced_settings`; `AdvancedSettings.parse({})` gives the defaults. */
export const AdvancedSettings = defineRequest('AdvancedSettings', {
  blacks: level().describe('Level of blacks'),
  brightness: level().describe('Brightness'),
  contrast: level().describe('Contrast'),
  saturation: level().describe('Saturation'),
  whites: level().describe('Level of whites'),
  engine: choice('automatic balanced cool real illusio fairy colorful_anime hard_transform softy')
    .optional()
    .describe('Engine that generates the image'),
  transfer_light_a: choice('automatic low medium normal high high_on_faces')
    .optional()
    .describe('How strongly the light is transferred'),
  transfer_light_b: z
    .enum([
      ...(['automatic', 'composition', 'straight', 'smooth_in', 'smooth_out', 'smooth_both'] as const),
      ...(['reverse_both', 'soft_in', 'soft_out', 'soft_mid', 'strong_mid'] as const),
      ...(['style_shift', 'strong_shift'] as const),
    ])
    .optional()
    .describe('How the light is blended in'),
  fixed_generation: z.boolean().optional().describe('Always produce the same image for the same settings'),
});

// Decided: relight requires an image, and has these defaults.
export const RelightRequest = withRules(
  z.strictObject({
    image: sourceImage,
    advanced_settings: AdvancedSettings.optional(),
    change_background: z
      .boolean()
      .default(true)
      .describe('Change the background based on prompt and/or reference image'),
    interpolate_from_original: explain(
      z.boolean().default(false),
      say`Interpolate the final image from the original, using ${{ field: 'light_transfer_strength' }}`,
    ),
    light_transfer_strength: percent()
      .default(100)
      .describe('0 stays closest to the original, 100 is maximum transfer'),
    preserve_details: z.boolean().default(true).describe('Maintain texture and small details'),
    prompt: text.long
      .optional()
      .describe('Guides the light transfer; emphasize with a number from 1 to 1.4, as in (warm light:1.2)'),
    style: choice('standard darker_but_realistic clean smooth brighter contrasted_n_hdr just_composition')
      .default('standard')
      .describe('Style of the result'),
    transfer_light_from_lightmap: explain(
      z.string().min(1).optional(),
      say`${IMAGE_FORM} of a lightmap; incompatible with ${{ field: 'transfer_light_from_reference_image' }}`,
    ),
    transfer_light_from_reference_image: explain(
      z.string().min(1).optional(),
      say`${IMAGE_FORM} of a reference image; incompatible with ${{ field: 'transfer_light_from_lightmap' }}`,
    ),
    webhook_url,
  }),
  // Decided: a lightmap together with a reference image is refused before anything starts.
  excludeEachOther('transfer_light_from_lightmap', 'transfer_light_from_reference_image'),
  limitEmphasis('prompt'),
  requireImages('image', 'transfer_light_from_lightmap', 'transfer_light_from_reference_image'),
).meta({
  id: 'RelightRequest',
  examples: [{ image: 'https://example.com/portrait.jpg', prompt: 'warm evening light', style: 'clean' }],
});

// Decided: style transfer requires both images, and has these defaults. portrait_* are accepted and ignored
// without is_portrait.
export const StyleTransferRequest = withRules(
  z.strictObject({
    image: sourceImage,
    reference_image: explain(z.string().min(1), say`${IMAGE_FORM} of the style reference`),
    engine: choice('balanced definio illusio 3d_cartoon colorful_anime caricature real super_real softy')
      .default('balanced')
      .describe('Engine that generates the image'),
    fixed_generation: z.boolean().optional().describe('Always produce the same image for the same settings'),
    flavor: choice('faithful gen_z psychedelia detaily clear donotstyle donotstyle_sharp')
      .default('faithful')
      .describe('Flavor of the style'),
    is_portrait: z.boolean().default(false).describe('Process the image as a portrait'),
    portrait_beautifier: explain(
      z.enum(['beautify_face', 'beautify_face_max']).optional(),
      say`Face beautification; used only if ${{ field: 'is_portrait' }} is true`,
    ),
    portrait_style: explain(
      choice('standard pop super_pop').default('standard'),
      say`Portrait style; used only if ${{ field: 'is_portrait' }} is true`,
    ),
    prompt: text.long.optional().describe('Prompt for the model'),
    structure_strength: percent()
      .default(50)
      .describe('How much of the structure of the original is maintained'),
    style_strength: percent().default(100).describe('Style strength in percent'),
    webhook_url,
  }),
  requireImages('image', 'reference_image'),
).meta({
  id: 'StyleTransferRequest',
  examples: [{ image: 'https://example.com/portrait.jpg', reference_image: 'https://example.com/style.jpg' }],
});

export const SkinEnhancerRequest = withRules(
  z.strictObject({
    image: explain(
      z.string().min(1),
      say`${IMAGE_FORM} of the image; a URL must be public and begin with https`,
    ),
    sharpen: percent().default(0).describe('Amount of sharpening'),
    smart_grain: percent().default(2).describe('Amount of grain, which keeps skin from looking flat'),
    webhook_url,
  }),
  requireImages('image'),
  requireHttps('image'),
).meta({ id: 'SkinEnhancerRequest', examples: [{ image: 'https://example.com/portrait.jpg', sharpen: 10 }] });

export const UpscalerRequest = withRules(
  z.strictObject({
    image: sourceImage,
    sharpen: percent().default(7).describe('Amount of sharpening'),
    smart_grain: percent().default(7).describe('Amount of grain, which keeps surfaces from looking flat'),
    ultra_detail: percent().default(30).describe('Amount of detail to add'),
    flavor: z
      .enum(['sublime', 'photo', 'photo_denoiser'])
      .optional()
      .describe('Kind of image, or look to aim for'),
    // Decided: the default is twice as large.
    scale_factor: z.int().min(2).max(16).default(2).describe('How many times larger the result is'),
    webhook_url,
  }),
  requireImages('image'),
).meta({ id: 'UpscalerRequest', examples: [{ image: 'https://example.com/portrait.jpg', scale_factor: 4 }] });
