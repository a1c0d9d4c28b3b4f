import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { KeptLogin, PersonStore } from '@reeve/proxy/mcp';
import { changePrivateFile, readPrivateFile } from '../context/private-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { isObject } from '../is-object.ts';
import type { Shell } from '../shell.ts';
import { loginKey, namedKey } from './login-key.ts';

/**
 * The login of the person of this machine at one MCP server, in a file of its own: `~/.reeve/mcp-<digest>.login`, 0600,
 * sealed by AES-256-GCM. It is bound to the address of the server, so that a token for one server is never read as that
 * of another.
 */
export function sealedLogin(shell: Pick<Shell, 'env'>, server: URL): PersonStore {
  const folder = reeveFolder(shell);
  const about = server.href;
  const path = join(folder.path, `mcp-${createHash('sha256').update(about).digest('hex').slice(0, 32)}.login`);
  const opened = async (text: string | undefined): Promise<KeptLogin | undefined> => {
    // A key that is named and cannot be used is said at once, and not after somebody has logged in.
    namedKey(shell);
    return text === undefined ? undefined : unseal(text, (await loginKey(shell)).key, about);
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
        return login === undefined ? undefined : seal(login, (await loginKey(shell)).key, about);
      });
      // What went wrong elsewhere is no fault of the file.
      if (failure !== undefined) throw failure.error;
    },
  };
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
