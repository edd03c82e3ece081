import type { Content } from '../http/content.ts';
import { createAssets } from '../ui/assets.ts';
import { page } from '../ui/page.ts';

/** The page for holders of a key, and the files that it loads. */
export async function createDashboard() {
  const assets = await createAssets('dashboard');
  return {
    page: await page(assets, {
      title: 'Pet Store dashboard',
      module: 'dashboard/main.js',
      root: './',
      withoutScript: 'The dashboard needs JavaScript. The API gives the same: see /reference.md.',
    }),
    /** A file of the page, by its path without the slash at the front. */
    file: async (path: string): Promise<Content | undefined> => assets.file(path),
  };
}
