import type { ReadStream, WriteStream } from 'node:tty';

/** The surroundings of a command. It reads the environment and reaches the terminal only through this. */
export interface Shell {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
  /** Whether tables are to be as wide as they are, whatever the terminal. */
  readonly isWide?: boolean;
}

/** An environment variable. An empty one counts as unset. */
export function variable(shell: Pick<Shell, 'env'>, name: string): string | undefined {
  const value = shell.env[name]?.trim();
  return value === '' ? undefined : value;
}
