import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { changePrivateFile, readPrivateFile } from '../context/private-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';
import { keyIn, readKeyFile } from './key-file.ts';
import type { Keyring } from './keyring.ts';
import { KeyringAway, keyringOf } from './keyring.ts';

/** The key that seals logins, and where it is kept, for people. */
export interface LoginKey {
  readonly key: Buffer;
  readonly place: string;
}

type Env = Pick<Shell, 'env'>;

const keyBytes = 32;
/** Programs take time, and a proxy asks for each call. */
const known = new Map<string, Promise<LoginKey>>();

/**
 * The key of this person: in the file that REEVE_MCP_KEY_FILE names, else in `~/.reeve/mcp.key` if that exists, else in the
 * keyring of the system, else in `~/.reeve/mcp.key`, which is made then, 0600.
 */
export async function loginKey(shell: Env): Promise<LoginKey> {
  const named = namedKey(shell);
  if (named !== undefined) return named;
  const { path } = reeveFolder(shell);
  const asked = known.get(path) ?? ownKey(shell);
  known.set(path, asked);
  asked.catch(() => known.delete(path));
  return asked;
}

/** The key in the file that the environment names, if it names one. */
export function namedKey(shell: Env): LoginKey | undefined {
  const path = variable(shell, 'REEVE_MCP_KEY_FILE');
  if (path === undefined) return undefined;
  return { key: keyIn(readKeyFile(path, 'REEVE_MCP_KEY_FILE', 'nobody'), path), place: path };
}

/** Where the key is or would be, without making one. */
export async function loginKeyPlace(shell: Env): Promise<string> {
  const named = namedKey(shell);
  if (named !== undefined) return named.place;
  const folder = reeveFolder(shell);
  const file = join(folder.path, 'mcp.key');
  const keyring = readPrivateFile(folder, file) === undefined ? ringOf(shell) : undefined;
  if (keyring === undefined) return file;
  const isReached = await keyring.read().then(
    () => true,
    () => false,
  );
  return isReached ? placeOf(keyring) : file;
}

async function ownKey(shell: Env): Promise<LoginKey> {
  const folder = reeveFolder(shell);
  const path = join(folder.path, 'mcp.key');
  const written = readPrivateFile(folder, path);
  if (written !== undefined) return { key: keyIn(written, path), place: path };
  let found: LoginKey | undefined;
  // Of several commands at once, one makes the key and the others take it.
  await changePrivateFile(folder, path, async (text) => {
    if (text !== undefined) {
      found = { key: keyIn(text, path), place: path };
      return undefined;
    }
    found = await fromKeyring(shell);
    if (found !== undefined) return undefined;
    const made = newKey();
    found = { key: keyIn(made, path), place: path };
    return `${made}\n`;
  });
  if (found === undefined) throw new Error('no key was found');
  return found;
}

/** Undefined if there is no keyring here. */
async function fromKeyring(shell: Env): Promise<LoginKey | undefined> {
  const keyring = ringOf(shell);
  if (keyring === undefined) return undefined;
  const place = placeOf(keyring);
  try {
    const kept = await keyring.read();
    if (kept !== undefined) return { key: keyIn(kept, place), place };
    const made = newKey();
    await keyring.write(made);
    // Some keyrings forget at once what they were given.
    return (await keyring.read())?.trim() === made ? { key: keyIn(made, place), place } : undefined;
  } catch (error) {
    if (!(error instanceof KeyringAway)) throw error;
    // A new key would open none of the logins that there are.
    if (!error.isMissing && hasLogins(shell)) {
      const how = 'unlock the keyring, or name a file with a key by REEVE_MCP_KEY_FILE and log in again';
      throw new CliError(`the key of the logins to MCP servers is in the keyring, and ${error.message}: ${how}`);
    }
    return undefined;
  }
}

function ringOf(shell: Env): Keyring | undefined {
  const wanted = variable(shell, 'REEVE_MCP_KEYRING') ?? 'on';
  if (wanted !== 'on' && wanted !== 'off') throw new CliError('REEVE_MCP_KEYRING must be on or off');
  return wanted === 'off' ? undefined : keyringOf(process.platform, shell.env, reeveFolder(shell).path);
}

function placeOf({ program }: Keyring): string {
  return `the keyring of the system (${program})`;
}

/** Whether there is a login on this machine. */
export function hasLogins(shell: Env): boolean {
  const { path } = reeveFolder(shell);
  return existsSync(path) && readdirSync(path).some((name) => /^mcp-.*\.login$/.test(name));
}

function newKey(): string {
  return randomBytes(keyBytes).toString('base64url');
}
