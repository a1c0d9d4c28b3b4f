import { readFileSync, statSync } from 'node:fs';
import { CliError } from '../cli-error.ts';
import { codeOf } from '../context/private-file.ts';

const form = /^[A-Za-z0-9_-]{43}$/;

/** Who besides the owner may read the file. */
type Readers = 'nobody' | 'group';

/** The text of a file with keys. `what` names the setting in errors. Others must not be able to read the file. */
export function readKeyFile(path: string, what: string, readers: Readers): string {
  try {
    const forbidden = readers === 'nobody' ? 0o077 : 0o007;
    if ((statSync(path).mode & forbidden) !== 0) {
      throw new CliError(
        `${what}: others may read ${path}; run "chmod ${readers === 'nobody' ? '600' : 'o='} ${path}"`,
      );
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${what}: cannot read ${path}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
  }
}

/** A key of 32 bytes. Errors never show it. */
export function keyIn(text: string, source: string): Buffer {
  const key = text.trim();
  if (form.test(key)) return Buffer.from(key, 'base64url');
  throw new CliError(`${source} holds no key: it must be 32 random bytes in base64url`);
}

/** The keys of a file, one on each line. */
export function keysIn(text: string, source: string): readonly [Buffer, ...Buffer[]] {
  const [first = '', ...others] = text.split('\n').filter((line) => line.trim() !== '');
  return [keyIn(first, source), ...others.map((line) => keyIn(line, source))];
}
