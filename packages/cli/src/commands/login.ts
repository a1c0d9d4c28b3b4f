import { keyFault } from '@reeve/contract/key-fault';
import { scopes } from '@reeve/contract/names';
import { CliError, UsageError } from '../cli-error.ts';
import type { GlobalValues } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, flag, text } from '../command-line/values.ts';
import { callableContext } from '../context/active-context.ts';
import type { Session } from '../context/sessions.ts';
import { saveSession } from '../context/sessions.ts';
import { exchangeToken } from '../http/exchange-token.ts';
import { openPasswordSession, openPersonSession } from '../http/person-session.ts';
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
    'A person logs in as themselves: with --email the password is asked for, and an email at the question for the key means the same; with --sso they sign in by the browser on this computer, in whichever way the dashboard offers, and let the command in. The session is that of the person, with the scopes of their role. It is renewed by itself for as long as it is used within 12 hours.',
    'A session is renewed by itself with the same key and the same scopes, and is sent only to the URL it was made for.',
  ],
  args: {},
  options: {
    email: text(
      'EMAIL',
      'Log in as the person with this email. The password is asked for, or read from standard input.',
    ),
    sso: flag('Sign in by the browser on this computer, with a password or through single sign-on.'),
    scope: choice(scopes, 'Ask for this scope only. Default: all that the key is granted.'),
  },
  examples: [
    ['reeve login', 'asks for the key'],
    ['reeve login --email olga@example.com', 'as yourself, with your password'],
    ['reeve login --sso', 'as yourself, by the browser'],
    ['reeve login --scope read', 'a session that can change nothing'],
    ['reeve login --context staging', 'for another context'],
    ['reeve login < key.txt', 'with a key from a file, unseen by the list of processes'],
  ],
  run: async ({ globals, options }, shell) => {
    const context = await callableContext(shell, globals);
    if (options.sso && options.email !== undefined) throw new UsageError('give --email or --sso, not both');
    if (options.scope !== undefined && (options.sso || options.email !== undefined)) {
      throw new UsageError('--scope goes with a key: the session of a person has the scopes of their role');
    }
    const session = await openSession(shell, context, options, globals);
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

interface Wanted {
  readonly sso: boolean;
  readonly email: string | undefined;
  readonly scope: string | undefined;
}

async function openSession(
  shell: Shell,
  { apiUrl, apiKey }: { readonly apiUrl: string; readonly apiKey: string | undefined },
  { sso, email, scope }: Wanted,
  globals: GlobalValues,
): Promise<Session> {
  if (sso) return logInByBrowser(shell, apiUrl, globals);
  if (email !== undefined) return logInByPassword(shell, apiUrl, email, globals);
  const key = apiKey ?? (await askKey(shell));
  // Whoever has just made an account answers with its email. No key has such a sign.
  const isEmail = apiKey === undefined && shell.stdin.isTTY && scope === undefined && key.includes('@');
  return isEmail ? logInByPassword(shell, apiUrl, key, globals) : logIn(shell, apiUrl, key, scope, globals);
}

async function logInByPassword(
  shell: Shell,
  apiUrl: string,
  email: string,
  { timeout }: GlobalValues,
): Promise<Session> {
  const password = await askSecret(shell, `Password of ${email}: `);
  if (password === '') throw new CliError('no password provided');
  const opened = openPasswordSession(apiUrl, { email, password }, timeout * 1000);
  try {
    return await withProgress(shell, (seconds) => `Waiting for ${apiUrl} (${seconds} s)`, opened);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== 'wrong_credentials') throw error;
    throw new CliError('authentication failed: the email or the password is wrong', { bare: true, cause: error });
  }
}

async function logInByBrowser(shell: Shell, apiUrl: string, { timeout }: GlobalValues): Promise<Session> {
  const code = await askBrowser(apiUrl, (url) => {
    note(shell, `Open this address in a browser on this computer, and let the command in there:\n\n  ${url}\n`);
  });
  return openPersonSession(apiUrl, code, timeout * 1000);
}

async function askKey(shell: Shell): Promise<string> {
  const key = (await askSecret(shell, 'API key: ')).trim();
  if (key === '') {
    throw new CliError('no API key provided\nTo log in as a person: reeve login --email EMAIL, or reeve login --sso');
  }
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
