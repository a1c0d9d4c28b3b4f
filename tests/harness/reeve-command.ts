import { resolve } from 'node:path';

/** The command as it is installed: it runs the sources. */
export const reeveFromSources: readonly string[] = [resolve('node_modules/.bin/reeve')];

const bundle = process.env['REEVE_TEST_GATEWAY'];

/**
 * The command as tests run it. `npm test` makes a bundle (`scripts/bundle-gateway.ts`), which starts in half the time. At
 * least one test of each thread, store and door runs the sources.
 */
export const reeveCommand: readonly string[] =
  bundle === undefined ? reeveFromSources : [resolve('node_modules/.bin/node'), bundle];
