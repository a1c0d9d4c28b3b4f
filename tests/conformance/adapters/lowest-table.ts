// Runs the table on the light adapters, with whatever versions the process finds, and prints the results.
import { runAdapters } from './run-adapters.ts';

const results = await runAdapters({ missing: 'only the light ones' }, () => {});
process.stdout.write(`${JSON.stringify(results)}\n`);
