import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { oneOf, required } from '../command-line/values.ts';
import { completionScript, completionShells } from '../completion/scripts.ts';

export const completionCommand = defineCommand({
  details: [
    'Prints a script for the shell. It completes commands, options and their values, and the names of contexts, operations, agents and keys, which it asks the gateway for.',
  ],
  args: { shell: required(`One of ${completionShells.join(', ')}.`, completionShells) },
  options: {},
  examples: [
    ['reeve completion bash >> ~/.bashrc', 'for bash; or: eval "$(reeve completion bash)"'],
    ['reeve completion zsh >> ~/.zshrc', 'for zsh, behind compinit'],
    ['reeve completion fish > ~/.config/fish/completions/reeve.fish', 'for fish'],
  ],
  run: async ({ args, globals }, shell) => {
    if (globals.output !== 'table') throw new UsageError('a script has one form only: leave out --output');
    shell.stdout.write(completionScript(oneOf(completionShells, args.shell, 'SHELL')));
    return 0;
  },
});
