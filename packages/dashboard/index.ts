import { fileURLToPath } from 'node:url';

/** Where the built dashboard lies, for whoever serves it. */
export const dashboardFolder = fileURLToPath(new URL('dist', import.meta.url));
