/**
 * The host's types as a schema names them, with the word they have in a workflow. Source: `comfy_api/latest/_io.py` of
 * ComfyUI. Types whose inputs depend on others (Autogrow, DynamicCombo …) keep their word; their details are computed.
 */
export const SCHEMA_TYPES: Record<string, string> = {
  Boolean: 'BOOLEAN',
  Int: 'INT',
  Float: 'FLOAT',
  String: 'STRING',
  Combo: 'COMBO',
  MultiCombo: 'COMBO',
  Image: 'IMAGE',
  WanCameraEmbedding: 'WAN_CAMERA_EMBEDDING',
  Webcam: 'WEBCAM',
  Mask: 'MASK',
  Latent: 'LATENT',
  Conditioning: 'CONDITIONING',
  Sampler: 'SAMPLER',
  Sigmas: 'SIGMAS',
  Noise: 'NOISE',
  Guider: 'GUIDER',
  Clip: 'CLIP',
  ControlNet: 'CONTROL_NET',
  Vae: 'VAE',
  Model: 'MODEL',
  ClipVision: 'CLIP_VISION',
  ClipVisionOutput: 'CLIP_VISION_OUTPUT',
  StyleModel: 'STYLE_MODEL',
  Gligen: 'GLIGEN',
  UpscaleModel: 'UPSCALE_MODEL',
  LatentUpscaleModel: 'LATENT_UPSCALE_MODEL',
  Audio: 'AUDIO',
  Video: 'VIDEO',
  SVG: 'SVG',
  LoraModel: 'LORA_MODEL',
  LossMap: 'LOSS_MAP',
  Voxel: 'VOXEL',
  Mesh: 'MESH',
  Hooks: 'HOOKS',
  HookKeyframes: 'HOOK_KEYFRAMES',
  TimestepsRange: 'TIMESTEPS_RANGE',
  LatentOperation: 'LATENT_OPERATION',
  FlowControl: 'FLOW_CONTROL',
  Accumulation: 'ACCUMULATION',
  Load3DCamera: 'LOAD3D_CAMERA',
  Load3D: 'LOAD_3D',
  Load3DAnimation: 'LOAD_3D_ANIMATION',
  Photomaker: 'PHOTOMAKER',
  Point: 'POINT',
  FaceAnalysis: 'FACE_ANALYSIS',
  BBOX: 'BBOX',
  BoundingBox: 'BOUNDING_BOX',
  SEGS: 'SEGS',
  AnyType: '*',
  MODEL_PATCH: 'MODEL_PATCH',
  ModelPatch: 'MODEL_PATCH',
  AudioEncoder: 'AUDIO_ENCODER',
  AudioEncoderOutput: 'AUDIO_ENCODER_OUTPUT',
  Tracks: 'TRACKS',
  MatchType: 'COMFY_MATCHTYPE_V3',
  Autogrow: 'COMFY_AUTOGROW_V3',
  DynamicCombo: 'COMFY_DYNAMICCOMBO_V3',
  DynamicSlot: 'COMFY_DYNAMICSLOT_V3',
  Color: 'COLOR',
  ImageCompare: 'IMAGECOMPARE',
};

const WIDGET_ORDER = ['id', 'display_name', 'optional', 'tooltip', 'lazy', 'default'];

/** Order of the arguments an input may be given without their names. */
export const INPUT_ORDER: Record<string, readonly string[]> = {
  Boolean: [...WIDGET_ORDER, 'label_on', 'label_off', 'socketless', 'force_input'],
  Int: [...WIDGET_ORDER, 'min', 'max', 'step', 'control_after_generate', 'display_mode'],
  Float: [...WIDGET_ORDER, 'min', 'max', 'step', 'round', 'display_mode'],
  String: [
    'id',
    'display_name',
    'optional',
    'tooltip',
    'lazy',
    'multiline',
    'placeholder',
    'default',
    'dynamic_prompts',
  ],
  Combo: [
    'id',
    'options',
    ...WIDGET_ORDER.slice(1),
    'control_after_generate',
    'upload',
    'image_folder',
    'remote',
  ],
  MultiCombo: ['id', 'options', ...WIDGET_ORDER.slice(1), 'placeholder', 'chip'],
  MultiType: ['id', 'types', 'display_name', 'optional', 'tooltip', 'lazy'],
  MatchType: ['id', 'template', 'display_name', 'optional', 'tooltip', 'lazy'],
  Autogrow: ['id', 'template', 'display_name', 'optional', 'tooltip', 'lazy'],
  DynamicCombo: ['id', 'options', 'display_name', 'optional', 'tooltip', 'lazy'],
};

export const PLAIN_INPUT_ORDER: readonly string[] = [
  'id',
  'display_name',
  'optional',
  'tooltip',
  'lazy',
  'extra_dict',
];

/** Order of a schema's own arguments. */
export const SCHEMA_ORDER: readonly string[] = [
  'node_id',
  'display_name',
  'category',
  'inputs',
  'outputs',
  'hidden',
  'description',
];

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
