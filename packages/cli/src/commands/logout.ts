import { defineCommand } from '../command-line/command.ts';
import { activeContext } from '../context/active-context.ts';
import { removeSession } from '../context/sessions.ts';
import { print } from '../output/print.ts';

export const logoutCommand = defineCommand({
  details: [
    'Removes the session from this machine only: the API key it was made from stays valid. "reeve keys revoke ID" revokes it. Succeeds even without a session.',
  ],
  args: {},
  options: {},
  examples: [
    ['reeve logout', 'forget the session of the current context'],
    ['reeve logout --context staging', 'that of another one'],
  ],
  run: async ({ globals }, shell) => {
    const { folder, name } = await activeContext(shell, globals);
    const wasLoggedIn = await removeSession(folder, name);
    const words = wasLoggedIn ? `Logged out of ${name}.` : `No active session for ${name}.`;
    print(shell, globals.output, { logged_out: wasLoggedIn, context: name }, () => words);
    return 0;
  },
});
