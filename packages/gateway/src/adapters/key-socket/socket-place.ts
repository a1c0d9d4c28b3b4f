import { closeSync, constants, lstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The socket in the data folder of a running gateway. */
export const keySocketName = 'gateway.sock';

/** The one command that the socket takes. */
export const bootstrapCommand = 'keys bootstrap\n';

/** What it answers: a new admin key, which is shown only this once. */
export interface BootstrapKey {
  readonly key: string;
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
}

/** The address of a socket has 104 bytes on macOS and 108 on Linux, with a zero at its end. */
const longestPath = 103;

/** Where to reach the socket. A folder with a longer path is reached by its descriptor, where the system has that. */
export function keySocketIn(folder: string): { readonly path: string } & Disposable {
  const path = join(folder, keySocketName);
  if (Buffer.byteLength(path) <= longestPath) return { path, [Symbol.dispose]: () => undefined };
  if (process.platform !== 'linux') throw new Error(`the path ${path} is too long for a socket`);
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${descriptor}/${keySocketName}`, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** Why nobody should talk to what lies there. Undefined if it is a socket that only the owner of the folder reaches. */
export function whyNotOurs(folder: string): string | undefined {
  const path = join(folder, keySocketName);
  const socket = lstatSync(path);
  const { uid: owner, mode } = statSync(folder);
  const me = process.geteuid?.();
  if (!socket.isSocket()) return `${path} is no socket`;
  if (socket.uid !== owner) return `${path} belongs to another user than its folder`;
  if (me !== owner && me !== 0) return `${folder} belongs to another user`;
  if ((socket.mode & 0o777) !== 0o600) return `others may use ${path}`;
  return (mode & 0o022) === 0 ? undefined : `others may write into ${folder}`;
}
