import { resolve } from 'node:path';

const bundle = process.env['REEVE_TEST_GATEWAY'];
const measuredInto = process.env['REEVE_TEST_COVERAGE'];

/** What came from the cache of compiled code would be measured by functions alone, and not by branches. */
const measured =
  measuredInto === undefined
    ? []
    : ['/usr/bin/env', `NODE_V8_COVERAGE=${measuredInto}`, 'NODE_DISABLE_COMPILE_CACHE=1'];

/** How tests end what they no longer need. What is measured ends in order: it writes what it has counted last. */
export const lastSignal = measuredInto === undefined ? 'SIGKILL' : 'SIGTERM';

/** The command as it is installed: it runs the sources. `npm run coverage` measures it. */
export const reeveFromSources: readonly string[] = [...measured, resolve('node_modules/.bin/reeve')];

/**
 * The command as tests run it. `npm test` makes a bundle (`scripts/assemble-command.ts`), which starts in half the time. At
 * least one test of each thread, store and door runs the sources.
 */
export const reeveCommand: readonly string[] =
  bundle === undefined ? reeveFromSources : [resolve('node_modules/.bin/node'), bundle];
