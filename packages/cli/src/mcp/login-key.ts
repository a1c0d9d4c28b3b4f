import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
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
  /** Why it was made in a file just now, and not in the keyring. */
  readonly noKeyring?: string;
}

type Env = Pick<Shell, 'env'>;

const keyBytes = 32;
/** Programs take time, and a proxy asks for each call. */
const known = new Map<string, Promise<LoginKey>>();

/**
 * The key of this person: in the file that REEVE_MCP_KEY_FILE names, else in `~/.reeve/mcp.key` if that exists, else in the
 * keyring of the system, else in `~/.reeve/mcp.key`, 0600. It is made for the first login, and never while there are logins.
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
    const asked = await fromKeyring(shell);
    if ('key' in asked) {
      found = asked;
      return undefined;
    }
    requireNoLogins(shell, asked.why);
    const made = newKey();
    found = { key: keyIn(made, path), place: path, noKeyring: asked.why };
    return `${made}\n`;
  });
  if (found === undefined) throw new Error('no key was found');
  return found;
}

/** The key in the keyring, which gets one if there are no logins yet; or why it is not there. */
async function fromKeyring(shell: Env): Promise<LoginKey | { readonly why: string }> {
  const keyring = ringOf(shell);
  if (typeof keyring === 'string') return { why: keyring };
  const place = placeOf(keyring);
  try {
    const kept = await keyring.read();
    if (kept !== undefined) return { key: keyIn(kept, place), place };
    requireNoLogins(shell, `${place} says that it has none`);
    const made = newKey();
    await keyring.write(made);
    // Some keyrings forget at once what they were given.
    const isKept = (await keyring.read())?.trim() === made;
    return isKept ? { key: keyIn(made, place), place } : { why: `${place} does not keep it` };
  } catch (error) {
    if (error instanceof KeyringAway) return { why: error.message };
    throw error;
  }
}

/** A new key would open none of the logins that there are, and the next one to be written would hide that. */
function requireNoLogins(shell: Env, why: string): void {
  if (!hasLogins(shell)) return;
  const how = 'unlock the keyring, or name a file with a key by REEVE_MCP_KEY_FILE and log in again';
  throw new CliError(`the key of the logins to MCP servers is not found, as ${why}: ${how}`);
}

/** The keyring, or why there is none. */
function ringOf(shell: Env): Keyring | string {
  const wanted = variable(shell, 'REEVE_MCP_KEYRING') ?? 'on';
  if (wanted === 'off') return 'REEVE_MCP_KEYRING is off';
  if (wanted !== 'on' && !isAbsolute(wanted)) {
    throw new CliError('REEVE_MCP_KEYRING must be on, off, or the whole path of a program');
  }
  const path = wanted === 'on' ? undefined : wanted;
  return keyringOf(process.platform, shell.env, reeveFolder(shell).path, path) ?? 'no keyring of this system is known';
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
