import { defineCommand } from '../command-line/command.ts';
import { connect } from '../http/connect.ts';
import { opFilters } from './op-filters.ts';

export const approvalsWatchCommand = defineCommand({
  details: [
    'Needs the scope read, and write to decide. On a terminal it fills the screen: arrows or j and k choose, enter shows the whole request, a approves, r rejects, each after a question; q or Ctrl-C ends it. It reopens a lost connection.',
    'Elsewhere, and with --output json or yaml, it is "reeve approvals list --follow".',
  ],
  args: {},
  options: opFilters,
  examples: [
    ['reeve approvals watch', 'what waits, live, with keys to decide'],
    ['reeve approvals watch --org acme', 'of one org'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const isScreen = shell.stdout.isTTY && shell.stdin.isTTY && input.globals.output === 'table';
    if (isScreen && shell.env['TERM'] !== 'dumb') {
      const { approvalsOnScreen } = await import('../approvals/approvals-screen.ts');
      return approvalsOnScreen(shell, input.globals, client, input.options);
    }
    const { followApprovals } = await import('../approvals/follow-lines.ts');
    return followApprovals(shell, input.globals, client, input.options);
  },
});
