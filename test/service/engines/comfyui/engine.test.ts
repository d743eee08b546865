import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { type ComfyUiVersion, startComfyUi } from '../../../support/comfyui.js';
import { comfyUiServiceForTest } from '../../../support/comfyui-service.js';
import { startTask, waitForTask } from '../../../support/generation.js';

const real = process.env.REGEN_TEST_COMFYUI_URL;

async function createPicture(width = 40, height = 30): Promise<string> {
  const create = { width, height, channels: 3, background: { r: 200, g: 90, b: 40 } } as const;
  return (await sharp({ create }).png().toBuffer()).toString('base64');
}

const hosts: readonly (ComfyUiVersion | 'real')[] = ['0.3.64', '0.33.0', 'real'];

describe.each(hosts)('the example workflows on ComfyUI %s', (version) => {
  // A real one is at REGEN_TEST_COMFYUI_URL.
  it.skipIf(version === 'real' && !real).each([
    ['image.upscaler', { scale_factor: 3, sharpen: 0 }, [120, 90]],
    ['image.relight', { light_transfer_strength: 40 }, [40, 30]],
    ['image.styleTransfer', { style_strength: 50, structure_strength: 10 }, [40, 30]],
    ['image.skinEnhancer', { sharpen: 10 }, [40, 30]],
  ] as const)('make %s with %j', async (operation, options, [width, height]) => {
    const url = version === 'real' ? (real as string) : (await startComfyUi({ version })).url;
    const { asking } = await comfyUiServiceForTest({ url });
    const image = await createPicture();
    const other = await createPicture(20, 20);
    const id = await startTask(
      { ...asking, operation },
      {
        ...{ image, ...options },
        ...(operation === 'image.relight' && { transfer_light_from_reference_image: other }),
        ...(operation === 'image.styleTransfer' && { reference_image: other }),
      },
    );
    const { generated } = await waitForTask({ ...asking, operation }, id);
    expect(generated).toHaveLength(1);
    const bytes = Buffer.from(await (await fetch(generated[0])).arrayBuffer());
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width, height });
    // The graph is the operator's.
    expect(bytes.includes('tEXt')).toBe(false);
    expect(bytes.includes('class_type')).toBe(false);
  });
});
