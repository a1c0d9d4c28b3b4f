// Lets an example find the frameworks that are installed for the conformance run alone: node --import …
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const parentURL = pathToFileURL('node_modules/.cache/reeve-conformance/adapters/package.json').href;

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch {
      return next(specifier, { ...context, parentURL });
    }
  },
});
