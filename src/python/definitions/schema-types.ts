import { createDict, createList, createUnknown, type Value } from './values.js';

/** Types whose word is their name, such as `CONTROL_NET` of `ControlNet`. */
const PLAIN_TYPES = `Boolean Int Float String Combo Image WanCameraEmbedding Webcam Mask Latent Conditioning Sampler
  Sigmas Noise Guider Clip ControlNet Vae Model ClipVision ClipVisionOutput StyleModel Gligen
  UpscaleModel LatentUpscaleModel Audio Video SVG LoraModel LossMap Voxel Mesh Hooks HookKeyframes
  TimestepsRange LatentOperation FlowControl Accumulation Photomaker Point FaceAnalysis BBOX
  BoundingBox SEGS MODEL_PATCH ModelPatch AudioEncoder AudioEncoderOutput Tracks Color Colors Curve BoundingBoxes
  VideoEdit ResolutionPreview Histogram Range Splat Layers Compositor CameraInfoState BackgroundRemoval Dict Array`;

/**
 * The host's types as a schema names them, with the word they have in a workflow. Source: `comfy_api/latest/_io.py` of
 * ComfyUI. Types whose inputs depend on others (Autogrow, DynamicCombo …) keep their word; their details are computed.
 */
export const SCHEMA_TYPES: Record<string, string> = {
  ...Object.fromEntries(
    PLAIN_TYPES.split(/\s+/).map((name) => [name, name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()]),
  ),
  MultiCombo: 'COMBO',
  Load3DCamera: 'LOAD3D_CAMERA',
  Load3D: 'LOAD_3D',
  Load3DAnimation: 'LOAD_3D_ANIMATION',
  AnyType: '*',
  MatchType: 'COMFY_MATCHTYPE_V3',
  Autogrow: 'COMFY_AUTOGROW_V3',
  DynamicCombo: 'COMFY_DYNAMICCOMBO_V3',
  DynamicSlot: 'COMFY_DYNAMICSLOT_V3',
  ImageCompare: 'IMAGECOMPARE',
  Load3DModelInfo: 'LOAD3D_MODEL_INFO',
};

const WIDGET = 'display_name optional tooltip lazy default';
const PLAIN_INPUT = 'id display_name optional tooltip lazy extra_dict';
const OWN = 'id display_name optional tooltip socketless';
const PLAIN_OUTPUT = 'id display_name tooltip is_output_list';

/** Order of the arguments an input may be given without their names. */
const INPUTS = new Map(
  Object.entries({
    Boolean: `id ${WIDGET} label_on label_off socketless force_input`,
    Int: `id ${WIDGET} min max step control_after_generate display_mode`,
    Float: `id ${WIDGET} min max step round display_mode`,
    String: 'id display_name optional tooltip lazy multiline placeholder default dynamic_prompts',
    Combo: `id options ${WIDGET} control_after_generate upload image_folder remote`,
    MultiCombo: `id options ${WIDGET} placeholder chip`,
    MultiType: 'id types display_name optional tooltip lazy',
    MatchType: 'id template display_name optional tooltip lazy',
    Autogrow: 'id template display_name optional tooltip lazy',
    DynamicCombo: 'id options display_name optional tooltip lazy',
    BoundingBox: `${OWN} default component force_input`,
    ...Object.fromEntries(
      ['BoundingBoxes', 'Colors', 'Compositor', 'Curve', 'Range', 'VideoEdit'].map((name) => [
        name,
        `${OWN} default`,
      ]),
    ),
    ...Object.fromEntries(
      ['Color', 'CameraInfoState', 'ImageCompare', 'ResolutionPreview'].map((name) => [
        name,
        `${OWN} advanced`,
      ]),
    ),
  }),
);

/** Inputs of one kind of widget of their own, which the host gives these options where the pack does not. */
const OWN_WIDGETS = new Map<string, Readonly<Record<string, Value>>>([
  ['BoundingBox', { default: createDict(Object.entries({ x: 0n, y: 0n, width: 512n, height: 512n })) }],
  ['BoundingBoxes', { default: createList([]) }],
  ['Colors', { default: createList([]) }],
  ['Color', { default: '#ffffff' }],
  ['Compositor', { default: createDict() }],
  // What the host makes of them depends on more than is imitated here.
  ...['Curve', 'Range', 'VideoEdit', 'ResolutionPreview'].map(
    (name) => [name, { default: createUnknown(`io.${name}.Input`) }] as const,
  ),
  ['CameraInfoState', {}],
  ['ImageCompare', {}],
]);

const WIDGETS = new Set([
  ...'Boolean Int Float String Combo MultiCombo Webcam'.split(' '),
  ...OWN_WIDGETS.keys(),
]);

export function isWidget(type: string): boolean {
  return WIDGETS.has(type);
}

/** Options that an input has without stating them. */
export function getUsualOptions(type: string): Readonly<Record<string, Value>> {
  if (type === 'String') return { multiline: false };
  if (type === 'Combo' || type === 'MultiCombo') return { multiselect: type === 'MultiCombo' };
  const own = OWN_WIDGETS.get(type);
  return own ? { socketless: true, ...own } : {};
}

/** The same for outputs. */
const OUTPUTS = new Map([
  ['MatchType', 'template id display_name tooltip is_output_list'],
  ['Combo', 'id display_name options tooltip is_output_list'],
]);

export const getInputOrder = (type: string): string[] => (INPUTS.get(type) ?? PLAIN_INPUT).split(' ');
export const getOutputOrder = (type: string): string[] => (OUTPUTS.get(type) ?? PLAIN_OUTPUT).split(' ');

/** Order of a schema's own arguments. */
export const SCHEMA_ORDER = 'node_id display_name category inputs outputs hidden description'.split(' ');

/** Arguments whose name in a workflow differs. */
export const RENAMED: Record<string, string> = {
  raw_link: 'rawLink',
  widget_type: 'widgetType',
  force_input: 'forceInput',
  dynamic_prompts: 'dynamicPrompts',
  display_mode: 'display',
};

export const UPLOADS: Record<string, string> = {
  image: 'image_upload',
  audio: 'audio_upload',
  video: 'video_upload',
  model: 'file_upload',
};

export const DYNAMIC_TYPES = new Set(['MatchType', 'Autogrow', 'DynamicCombo', 'DynamicSlot']);
