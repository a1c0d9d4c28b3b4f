import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { didYouMean } from '../command-line/suggest.ts';
import { required } from '../command-line/values.ts';
import { changeConfig } from '../context/config-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { print } from '../output/print.ts';

export const contextUseCommand = defineCommand({
  args: { name: required('The context.', 'context') },
  options: {},
  examples: [['reeve context use staging', 'what follows goes to staging']],
  run: async ({ globals, args: { name } }, shell) => {
    await changeConfig(reeveFolder(shell), (document, { contexts }) => {
      if (!contexts.has(name))
        throw new CliError(`there is no context "${name}".${didYouMean(name, [...contexts.keys()])}`);
      document.current_context = name;
    });
    print(shell, globals.output, { current_context: name }, () => `Now using ${name}.`);
    return 0;
  },
});
