import type { AccountsPlace } from '../accounts/offline.ts';
import { createOwnerOffline } from '../accounts/offline.ts';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { note, print } from '../output/print.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

export const accountsCreateOwnerCommand = defineCommand({
  details: [
    'For the machine of the gateway: it opens the store itself and asks nobody. The account of this email becomes an active owner of the whole gateway, or is made. A password, sessions and a single sign-on from before end, and a link to choose a password is shown this once; it works for an hour. A data folder must not be in use: stop its gateway first. On PostgreSQL gateways may run.',
    'Without --data and --database the store is that of SVC_DATABASE_URL, else of SVC_DATA_DIR. That keeps the password of a database out of the list of processes.',
    'Data: {account: {id, email, role}, created, token, expires_at}.',
  ],
  args: { email: required('The email of the owner.') },
  options: {
    data: text('DIR', 'The data folder of the gateway.', { completes: 'file' }),
    database: text('URL', 'The PostgreSQL database of the gateways.'),
  },
  examples: [
    ['reeve accounts create-owner olga@example.com --data ~/.reeve/gateway', 'with the embedded store, stopped'],
    ['SVC_DATABASE_URL=postgres://… reeve accounts create-owner olga@example.com', 'with PostgreSQL'],
  ],
  run: async ({ args, options, globals }, shell) => {
    const place = placeOf(shell, options);
    const made = await createOwnerOffline(place, args.email);
    const { account, isNew, token, expiresAt } = made;
    const { id, email, role } = account;
    const data = { account: { id, email, role }, created: isNew, token, expires_at: new Date(expiresAt).toISOString() };
    if (made.isNewStore) note(shell, 'There was no store in this folder yet. It was made.');
    print(shell, globals.output, data, () => nextSteps(email, isNew, token));
    return 0;
  },
});

function placeOf(
  shell: Shell,
  { data, database }: { readonly data: string | undefined; readonly database: string | undefined },
): AccountsPlace {
  if (data !== undefined && database !== undefined) throw new UsageError('give --data or --database, not both');
  if (data !== undefined) return { dataDir: data };
  const databaseUrl = database ?? variable(shell, 'SVC_DATABASE_URL');
  if (databaseUrl === 'memory:') throw new UsageError('"memory:" keeps no accounts');
  if (databaseUrl !== undefined) return { databaseUrl };
  const dataDir = variable(shell, 'SVC_DATA_DIR');
  if (dataDir !== undefined) return { dataDir };
  throw new UsageError('which store? Give --data DIR or --database URL');
}

function nextSteps(email: string, isNew: boolean, token: string): string {
  return [
    `${email} is an owner now${isNew ? '' : '; the password, the sessions and the single sign-on from before have ended'}.`,
    '',
    'To choose a password within an hour, open this path at the address of the gateway:',
    '',
    `  /reset#token=${token}`,
    '',
    'Where passwords are off (SVC_AUTH_PASSWORD=off), start the gateway with SVC_AUTH_PASSWORD=on for that. A person who',
    'comes by single sign-on with this email is refused. With SVC_OIDC_LINK_BY_EMAIL=true the account becomes theirs, with',
    'the role from SVC_OIDC_ROLES, so give a value the role owner there to keep it.',
  ].join('\n');
}
