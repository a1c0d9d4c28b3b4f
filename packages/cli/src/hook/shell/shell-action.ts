import { bounds } from '@reeve/contract';

/** What a command line would do, as far as it can be seen. */
export type ShellAction = Execution | FileUse | Connection;

export interface Execution {
  readonly kind: 'execution';
  /** `?` for what cannot be read. */
  readonly command: string;
  readonly args: readonly string[];
  /** The folder that it runs in, see `Places.inWords`. */
  readonly workingDir: string;
  /** Why it cannot be read. */
  readonly note?: string;
}

export interface FileUse {
  readonly kind: 'file';
  readonly operation: 'read' | 'write';
  /** Absolute. */
  readonly path: string;
}

/** A redirection to a host, as bash knows it. */
export interface Connection {
  readonly kind: 'connection';
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

export const unreadable = '?';

export function execution(command: string, args: readonly string[], workingDir: string): Execution {
  const length = args.reduce((sum, arg) => sum + arg.length + 1, command.length);
  if (length <= bounds.text) return { kind: 'execution', command, args, workingDir };
  return doubtful(`the command is longer than ${bounds.text} characters`, workingDir, [command.slice(0, 256)]);
}

export function doubtful(note: string, workingDir: string, args: readonly string[] = []): Execution {
  const short = args.map((arg) => arg.slice(0, 1024)).slice(0, 6);
  return { kind: 'execution', command: unreadable, args: short, workingDir, note };
}
