// Finds Chromium and starts it with a fresh profile.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const ARGUMENTS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--disable-dev-shm-usage',
];

/** The path of Chromium or Chrome; `CHROMIUM` names another. */
export function find() {
  const named = process.env.CHROMIUM;
  if (named) return named;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // The next one, then.
    }
  }
  const mac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
  return existsSync(mac) ? mac : null;
}

/** A browser context of its own; `close` removes its profile. */
export async function launch(executablePath, options = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'turnstone-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath, headless: true, args: ARGUMENTS, viewport: { width: 1280, height: 900 }, ...options,
  });
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
