/** What is done after requests were answered, as the setting `work` names it. */
export const JOB_KINDS = [
  'abandon-version',
  'check-archive',
  'deliver-webhook',
  'expire-task',
  'forget-inputs',
  'prune',
  'run-image-task',
  'run-video-task',
  'watch-image-task',
  'watch-video-task',
] as const;

export type JobKindName = (typeof JOB_KINDS)[number];
