import { keyFault } from '@reeve/contract/key-fault';
import { CliError, UsageError } from '../cli-error.ts';
import type { GlobalValues } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, flag } from '../command-line/values.ts';
import { callableContext } from '../context/active-context.ts';
import type { Session } from '../context/sessions.ts';
import { saveSession } from '../context/sessions.ts';
import { exchangeToken } from '../http/exchange-token.ts';
import { openPersonSession } from '../http/person-session.ts';
import { ProblemError } from '../http/problem-error.ts';
import { coarseDuration } from '../output/duration.ts';
import { note, print } from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import type { Shell } from '../shell.ts';
import { askBrowser } from '../sign-on/browser-code.ts';
import { askSecret } from '../terminal/ask-secret.ts';
import { projection } from './whoami.ts';

export const loginCommand = defineCommand({
  details: [
    'Exchanges an API key for a session and keeps it for the active context, in ~/.reeve/credentials.yaml. The key comes from --api-key, else REEVE_API_KEY, else the context; else it is asked for without being shown, or read from standard input.',
    'With --sso a person signs in by the browser on this computer, in whichever way the dashboard offers, and lets the command in. The session is that of the person, with the scopes of their role. It is renewed by itself for as long as it is used within 12 hours.',
    'A session is renewed by itself with the same key and the same scopes, and is sent only to the URL it was made for.',
  ],
  args: {},
  options: {
    sso: flag('Sign in by the browser on this computer, for instance through single sign-on.'),
    scope: choice(['read', 'write', 'admin'], 'Ask for this scope only. Default: all that the key is granted.'),
  },
  examples: [
    ['reeve login', 'asks for the key'],
    ['reeve login --sso', 'as yourself, by the browser'],
    ['reeve login --scope read', 'a session that can change nothing'],
    ['reeve login --context staging', 'for another context'],
    ['reeve login < key.txt', 'with a key from a file, unseen by the list of processes'],
  ],
  run: async ({ globals, options }, shell) => {
    const context = await callableContext(shell, globals);
    if (options.sso && options.scope !== undefined) {
      throw new UsageError('--scope does not go with --sso: the session has the scopes of your role');
    }
    const session = options.sso
      ? await logInByBrowser(shell, context.apiUrl, globals)
      : await logIn(shell, context.apiUrl, context.apiKey ?? (await askKey(shell)), options.scope, globals);
    await saveSession(context.folder, context.name, session);
    const shown = projection(context.name, session);
    const expiry = shown.expired
      ? 'has expired already; is the clock right?'
      : `expires in about ${coarseDuration(shown.expires_in_secs)}`;
    const line = `Logged in to ${context.name}; scopes: ${session.scopes.join(', ')}; ${expiry}`;
    print(shell, globals.output, shown, () => line);
    return 0;
  },
});

async function logInByBrowser(shell: Shell, apiUrl: string, { timeout }: GlobalValues): Promise<Session> {
  const code = await askBrowser(apiUrl, (url) => {
    note(shell, `Open this address in a browser on this computer, and let the command in there:\n\n  ${url}\n`);
  });
  return openPersonSession(apiUrl, code, timeout * 1000);
}

async function askKey(shell: Shell): Promise<string> {
  const key = (await askSecret(shell, 'API key: ')).trim();
  if (key === '') throw new CliError('no API key provided');
  return key;
}

async function logIn(
  shell: Shell,
  apiUrl: string,
  key: string,
  scope: string | undefined,
  { timeout }: GlobalValues,
): Promise<Session> {
  const exchange = exchangeToken(apiUrl, key, scope === undefined ? undefined : [scope], timeout * 1000);
  try {
    return await withProgress(shell, (seconds) => `Waiting for ${apiUrl} (${seconds} s)`, exchange);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status !== 401) throw error;
    const fault = keyFault(key);
    const hint = fault === undefined ? '' : `\n${fault}`;
    throw new CliError(`authentication failed: the API key was rejected${hint}`, { bare: true, cause: error });
  }
}
