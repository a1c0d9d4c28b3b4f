import type { ReadStream, WriteStream } from 'node:tty';

/** What surrounds a command: the only way by which it reads the environment and reaches the terminal. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

/** A variable of the environment; an empty one counts as unset. */
export function variable(shell: Pick<Shell, 'env'>, name: string): string | undefined {
  const value = shell.env[name]?.trim();
  return value === '' ? undefined : value;
}
