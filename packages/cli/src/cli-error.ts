/** An error that ends the command, worded for the person who typed it. Control characters are removed on display. */
export class CliError extends Error {
  readonly exitCode: number;
  /** Shown without the prefix "error: ". */
  readonly bare: boolean;

  constructor(message: string, options: { exitCode?: number; bare?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
    this.bare = options.bare ?? false;
  }
}

/** The command line or the configuration is invalid. */
export class UsageError extends CliError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, exitCode: 2 });
  }
}

/** Ctrl-C at a prompt. */
export class InterruptedError extends Error {}
