import { defineCommand } from '../command-line/command.ts';
import { connect } from '../http/connect.ts';
import { opFilters } from './op-filters.ts';

export const opsWatchCommand = defineCommand({
  details: [
    'Needs the scope read, and write for control. On a terminal it fills the screen: arrows or j and k choose, p pauses, r resumes, t terminates, each after a question; q or Ctrl-C ends it. It reopens a lost connection.',
    'Elsewhere, and with --output json or yaml, each operation and each change is a line, a JSON object or a YAML document, until the command is interrupted.',
  ],
  args: {},
  options: opFilters,
  examples: [
    ['reeve ops watch', 'what is in flight, live'],
    ['reeve ops watch --org acme --output json | jq .state', 'the changes of an org, for a program'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const isScreen = shell.stdout.isTTY && shell.stdin.isTTY && input.globals.output === 'table';
    if (isScreen && shell.env['TERM'] !== 'dumb') {
      const { watchOnScreen } = await import('../watch/watch-screen.ts');
      return watchOnScreen(shell, input.globals, client, input.options);
    }
    const { watchAsLines } = await import('../watch/watch-lines.ts');
    return watchAsLines(shell, input.globals, client, input.options);
  },
});
