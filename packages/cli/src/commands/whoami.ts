import { defineCommand } from '../command-line/command.ts';
import { activeContext } from '../context/active-context.ts';
import type { Session } from '../context/sessions.ts';
import { keyHint } from '../context/key-hint.ts';
import { coarseDuration } from '../output/duration.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';

/** The part of a session that may be shown: never its token, never the whole key. */
export interface WhoAmI {
  readonly logged_in: true;
  readonly context: string;
  readonly api_url: string;
  readonly scopes: readonly string[];
  readonly expires_at: number;
  readonly expires_in_secs: number;
  readonly expired: boolean;
  readonly source_key_hint: string;
}

export const whoamiCommand = defineCommand({
  details: [
    'Reads what "reeve login" has kept on this machine, without a call. Exits with 0 whether there is a session or not.',
    'Data: {logged_in: false}, or logged_in, context (the URL where the context has no name), api_url, scopes, expires_at (Unix seconds), expires_in_secs, expired, source_key_hint.',
  ],
  args: {},
  options: {},
  examples: [
    ['reeve whoami', 'the session of the current context'],
    ['reeve whoami --context staging --output json', 'that of another one, for a program'],
  ],
  run: async ({ globals }, shell) => {
    const { name, session } = await activeContext(shell, globals);
    if (session === undefined) {
      const words = `Not logged in to ${name}. Run "reeve login" to log in.`;
      print(shell, globals.output, { logged_in: false }, () => words);
      return 0;
    }
    const shown = projection(name, session);
    print(shell, globals.output, shown, () => record(shown));
    return 0;
  },
});

export function projection(name: string, session: Session): WhoAmI {
  const left = session.expiresAt - Math.floor(Date.now() / 1000);
  return {
    logged_in: true,
    context: name,
    api_url: session.apiUrl,
    scopes: session.scopes,
    expires_at: session.expiresAt,
    expires_in_secs: Math.max(0, left),
    expired: left <= 0,
    source_key_hint: keyHint(session.sourceKey),
  };
}

function record(shown: WhoAmI): string {
  const hint = shown.expired ? 'expired; the next command renews it' : `in ${coarseDuration(shown.expires_in_secs)}`;
  return renderRecord([
    ['Logged in', 'yes'],
    ['Context', shown.context],
    ['API URL', shown.api_url],
    ['Scopes', shown.scopes.join(', ')],
    ['Expires', `${hint} (expires_at ${shown.expires_at}, expires_in_secs ${shown.expires_in_secs})`],
    ['API key', shown.source_key_hint],
  ]);
}
