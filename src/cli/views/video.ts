import type { Flags } from '../command/flags.js';
import { startFlags, taskExplain } from './flags.js';
import type { View } from './view.js';

const fromTask: Flags = { '--from-task <task_id>': 'The same as <task_id>' };

export const videoViews: readonly View[] = [
  {
    usage: 'video text2video [prompt]',
    operation: 'video.text2video',
    module: 'generate',
    summary: 'Make a video from a prompt, a start frame, or both',
    flags: startFlags,
    examples: [
      'regen video text2video "a paper boat" --duration 4 --resolution 720p --aspect-ratio 9:16 -o boat.mp4',
      'regen video text2video "it sails away" --images boat.jpg --model vvq2-pro -o away.mp4',
      'regen video text2video "a harbour at dawn" --off-peak --max-credits 40 --no-wait',
    ],
  },
  {
    usage: 'video start-end2video <images...>',
    aliases: ['interpolate'],
    operation: 'video.startEnd2video',
    module: 'generate',
    summary: 'Make a video between a start frame and an end frame',
    explain: {
      images:
        'Start frame and optional end frame: files, - for standard input, URLs, or inline data after data: or base64:',
    },
    hide: ['images'],
    flags: startFlags,
    examples: [
      'regen video start-end2video morning.jpg evening.jpg --prompt "a day passes" --duration 8 -o day.mp4',
      'regen video start-end2video first.png last.png --model vvq2-turbo --resolution 1080p --no-wait',
    ],
  },
  {
    usage: 'video extend [task_id]',
    operation: 'video.extend',
    module: 'generate',
    summary: 'Extend a video',
    explain: {
      task_id: `${taskExplain.task_id}; instead of --video-creation-id and --video-url`,
    },
    optional: ['video_creation_id', 'video_url'],
    flags: { ...fromTask, ...startFlags },
    examples: [
      'regen video extend boat.mp4 --duration 3 -o longer.mp4',
      'regen video extend @last:video --prompt "it sails away" -o longer.mp4',
      'regen video extend --video-creation-id 1234 --video-url https://example.com/boat.mp4 --images end.jpg',
    ],
  },
  {
    usage: 'video prices',
    operation: 'video.prices',
    summary: 'Show the prices of videos and images in credits; video prices are per second',
    examples: ['regen video prices', 'regen video prices --json'],
  },
];
