import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { didYouMean } from '../command-line/suggest.ts';
import { required } from '../command-line/values.ts';
import { changeConfig } from '../context/config-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { removeSession } from '../context/sessions.ts';
import { print } from '../output/print.ts';

export const contextDeleteCommand = defineCommand({
  details: ['Removes it from this machine only: its API key stays valid.'],
  args: { name: required('The context.', 'context') },
  options: {},
  examples: [['reeve context delete staging', 'forget staging']],
  run: async ({ globals, args: { name } }, shell) => {
    const folder = reeveFolder(shell);
    await changeConfig(folder, (document, { contexts }) => {
      if (!contexts.has(name))
        throw new CliError(`there is no context "${name}".${didYouMean(name, [...contexts.keys()])}`);
      delete document.contexts[name];
      if (document.current_context === name) delete document.current_context;
    });
    const wasLoggedIn = await removeSession(folder, name);
    const words = `Deleted ${name}${wasLoggedIn ? ' and its session' : ''}.`;
    print(shell, globals.output, { deleted: name, session_removed: wasLoggedIn }, () => words);
    return 0;
  },
});
