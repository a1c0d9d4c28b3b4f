// Run by the test in a process of its own: prints every pattern that modules make with `new RegExp` as they are loaded.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const made: { readonly source: string; readonly flags: string }[] = [];
globalThis.RegExp = new Proxy(RegExp, {
  construct(target, args: ConstructorParameters<typeof RegExp>) {
    const pattern = new target(...args);
    if (new Error('who makes it?').stack?.includes('/node_modules/') === false)
      made.push({ source: pattern.source, flags: pattern.flags });
    return pattern;
  },
});

const found: { readonly file: string; readonly source: string; readonly flags: string }[] = [];
for (const file of process.argv.slice(2)) {
  made.length = 0;
  await import(pathToFileURL(resolve(file)).href);
  found.push(...made.map((pattern) => ({ file, ...pattern })));
}
process.stdout.write(JSON.stringify(found));
