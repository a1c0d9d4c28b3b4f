import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, required } from '../command-line/values.ts';
import { parseApiUrl } from '../context/api-url.ts';
import { changeConfig } from '../context/config-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { print } from '../output/print.ts';

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const contextSetCommand = defineCommand({
  details: [
    'Takes the URL from --api-url and the key from --api-key, which are kept in ~/.reeve/config.yaml. A key need not be kept: "reeve login" asks for one. The first context becomes the current one.',
  ],
  args: { name: required('The context: letters, digits, ".", "_" and "-".', 'context') },
  options: { forgetKey: flag('Remove the key that is kept for it.') },
  examples: [
    ['reeve context set prod --api-url https://reeve.example.com', 'a new context, or another URL'],
    ['reeve context set ci --api-url https://reeve.example.com --api-key "$KEY"', 'with a key'],
    ['reeve context set ci --forget-key', 'without it again'],
  ],
  run: async ({ globals, args: { name }, options }, shell) => {
    if (!nameForm.test(name)) {
      throw new UsageError(`NAME must be 1 to 64 letters, digits, ".", "_" or "-", beginning with a letter or digit`);
    }
    const apiUrl = globals.apiUrl === undefined ? undefined : parseApiUrl(globals.apiUrl, '--api-url');
    let made = { current: false, url: '', hasKey: false };
    await changeConfig(reeveFolder(shell), (document, { contexts, currentContext }) => {
      const known = contexts.get(name);
      const url = apiUrl ?? known?.apiUrl;
      if (url === undefined) throw new UsageError(`a new context needs --api-url URL`);
      const { api_key: oldKey, ...rest } = document.contexts[name] ?? {};
      const key = options.forgetKey ? undefined : (globals.apiKey ?? oldKey);
      document.contexts[name] = { ...rest, api_url: url, ...(key === undefined ? {} : { api_key: key }) };
      const isFirst = currentContext === undefined;
      if (isFirst) document.current_context = name;
      made = { current: isFirst || currentContext === name, url, hasKey: key !== undefined };
    });
    const shown = { name, api_url: made.url, current: made.current, has_api_key: made.hasKey };
    const words = `Context ${name} is ${made.url}${made.current ? ', and is the current one' : ''}.`;
    print(shell, globals.output, shown, () => words);
    return 0;
  },
});
