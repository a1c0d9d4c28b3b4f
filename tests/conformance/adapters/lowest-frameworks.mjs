// Gives the tests the lowest versions of the frameworks in place of those of the repository: node --import …
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const manifest = resolve('node_modules/.cache/reeve-conformance/adapters-lowest/package.json');
const parentURL = pathToFileURL(manifest).href;
const names = Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).dependencies);

registerHooks({
  resolve(specifier, context, next) {
    const isOurs = !context.parentURL?.includes('/node_modules/');
    const isOne = names.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    return next(specifier, isOurs && isOne ? { ...context, parentURL } : context);
  },
});
