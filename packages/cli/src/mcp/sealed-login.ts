import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { KeptLogin, PersonStore } from '@reeve/proxy/mcp';
import { CliError } from '../cli-error.ts';
import { changePrivateFile, codeOf, readPrivateFile } from '../context/private-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { isObject } from '../is-object.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

const keyBytes = 32;
const keyForm = /^[A-Za-z0-9_-]{43}$/;

/**
 * The login of the person of this machine at one MCP server, in a file of its own: `~/.reeve/mcp-<digest>.login`, 0600,
 * sealed by AES-256-GCM. It is bound to the address of the server, so that a token for one server is never read as that
 * of another. The key is in `~/.reeve/mcp.key`, or in the file that REEVE_MCP_KEY_FILE names, 0600.
 */
export function sealedLogin(shell: Pick<Shell, 'env'>, server: URL): PersonStore {
  const folder = reeveFolder(shell);
  const about = server.href;
  const path = join(folder.path, `mcp-${createHash('sha256').update(about).digest('hex').slice(0, 32)}.login`);
  const opened = async (text: string | undefined): Promise<KeptLogin | undefined> => {
    // A key that is named and cannot be used is said at once, and not after somebody has logged in.
    const key = namedKey(shell);
    return text === undefined ? undefined : unseal(text, key ?? (await ownKey(shell)), about);
  };
  return {
    read: async () => opened(readPrivateFile(folder, path)),
    change: async (change) => {
      let failure: { readonly error: unknown } | undefined;
      await changePrivateFile(folder, path, async (text) => {
        const login = await change(await opened(text)).catch((error: unknown) => {
          failure = { error };
          return undefined;
        });
        return login === undefined ? undefined : seal(login, namedKey(shell) ?? (await ownKey(shell)), about);
      });
      // What went wrong elsewhere is no fault of the file.
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** The key in the file that the environment names, if it names one. */
function namedKey(shell: Pick<Shell, 'env'>): Buffer | undefined {
  const path = variable(shell, 'REEVE_MCP_KEY_FILE');
  return path === undefined ? undefined : keyIn(readNamed(path), path);
}

/** The key of this person, which is made at its first use. */
async function ownKey(shell: Pick<Shell, 'env'>): Promise<Buffer> {
  const folder = reeveFolder(shell);
  const path = join(folder.path, 'mcp.key');
  const known = readPrivateFile(folder, path);
  if (known !== undefined) return keyIn(known, path);
  let text = '';
  // Of several commands at once, one makes the key and the others take it.
  await changePrivateFile(folder, path, async (made) => {
    text = made ?? `${randomBytes(keyBytes).toString('base64url')}\n`;
    return made === undefined ? text : undefined;
  });
  return keyIn(text, path);
}

function readNamed(path: string): string {
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      throw new CliError(`REEVE_MCP_KEY_FILE: others may read ${path}; run "chmod 600 ${path}"`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`REEVE_MCP_KEY_FILE: cannot read ${path}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
  }
}

function keyIn(text: string, path: string): Buffer {
  const key = text.trim();
  if (keyForm.test(key)) return Buffer.from(key, 'base64url');
  throw new CliError(`${path} holds no key: it must be 32 random bytes in base64url`);
}

function seal(login: KeptLogin, key: Buffer, about: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(about));
  const data = Buffer.concat([cipher.update(JSON.stringify(login)), cipher.final()]);
  const [nonce, tag, sealed] = [iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url'));
  return `${JSON.stringify({ version: 1, nonce, tag, sealed })}\n`;
}

/** Undefined for what another key sealed, or nobody did: the person logs in again. */
function unseal(text: string, key: Buffer, about: string): KeptLogin | undefined {
  try {
    const { nonce, tag, sealed } = JSON.parse(text) as Record<string, string>;
    const part = (value: string | undefined) => Buffer.from(value ?? '', 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, part(nonce), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(about)).setAuthTag(part(tag));
    const login: unknown = JSON.parse(Buffer.concat([decipher.update(part(sealed)), decipher.final()]).toString());
    return isObject(login) && typeof login['accessToken'] === 'string' ? (login as unknown as KeptLogin) : undefined;
  } catch {
    return undefined;
  }
}
