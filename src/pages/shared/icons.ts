import { readFile } from 'node:fs/promises';
import { fields } from 'direct-http';
import { Content } from '../../http/content.ts';
import { ICON, projectFile } from './hashed-files.ts';

/** Browsers ask for them at these paths, which have no hash. */
const CACHED = fields('Cache-Control', 'public, max-age=86400');

/** The icon at the paths where browsers look for it. */
export const ICONS = {
  '/favicon.ico': new Content(
    'image/x-icon',
    () => readFile(projectFile('src/pages/shared/icon.ico').file),
    CACHED,
  ),
  '/favicon.svg': new Content('image/svg+xml', () => readFile(ICON.file), CACHED),
};

/** Whether a path is that of an icon. */
export function isIcon(path: string): path is keyof typeof ICONS {
  return Object.hasOwn(ICONS, path);
}
