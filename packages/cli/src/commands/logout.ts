import { defineCommand } from '../command-line/command.ts';
import { activeContext } from '../context/active-context.ts';
import { removeSession } from '../context/sessions.ts';
import { endPersonSession, isOfPerson } from '../http/person-session.ts';
import { note, print } from '../output/print.ts';

export const logoutCommand = defineCommand({
  details: [
    'Removes the session from this machine. One that was opened by the browser (--sso) also ends at the gateway. The API key of another stays valid: "reeve keys revoke ID" revokes it. Succeeds even without a session.',
  ],
  args: {},
  options: {},
  examples: [
    ['reeve logout', 'forget the session of the current context'],
    ['reeve logout --context staging', 'that of another one'],
  ],
  run: async ({ globals }, shell) => {
    const { folder, name, session } = await activeContext(shell, globals);
    if (session !== undefined && isOfPerson(session)) {
      await endPersonSession(session, globals.timeout * 1000).catch((error: unknown) => {
        note(
          shell,
          `warning: the session goes on at the gateway: ${error instanceof Error ? error.message : String(error)}`,
        );
      });
    }
    const wasLoggedIn = await removeSession(folder, name);
    const words = wasLoggedIn ? `Logged out of ${name}.` : `No active session for ${name}.`;
    print(shell, globals.output, { logged_out: wasLoggedIn, context: name }, () => words);
    return 0;
  },
});
