// The first module of a thread. It is plain JavaScript, so it needs no translation. With the cache of the process, the
// sources that it imports need none either.
import { enableCompileCache, flushCompileCache } from 'node:module';
import { workerData } from 'node:worker_threads';

const { module, compileCache } = workerData.boot;
if (compileCache !== undefined) enableCompileCache(compileCache);
await import(module);
flushCompileCache();
