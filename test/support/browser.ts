import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';

/** Debian's chromium, or the browser of TEST_BROWSER; absent if there is none, and its tests are skipped. */
export const browserPath = [process.env.TEST_BROWSER, '/usr/bin/chromium'].find(
  (path) => path && existsSync(path),
);

export interface OpenedPage {
  readonly page: Page;
  /** What the browser complained of: violations of the policy, failed requests, errors. */
  readonly complaints: string[];
}

/** A browser for the tests of a file. @returns opens a page in a session of its own */
export function browserForFile(): (options?: BrowserContextOptions) => Promise<OpenedPage> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (browserPath) browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  }, 60_000);
  afterAll(() => browser?.close());
  return async (options) => {
    const context = await (browser as Browser).newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    page.on('pageerror', (error) => void complaints.push(error.message));
    return { page, complaints };
  };
}
