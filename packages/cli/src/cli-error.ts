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

/** The exit code if there is nothing to act on. */
export const nothingThere = 4;

/** The command line or the configuration is invalid. */
export class UsageError extends CliError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, exitCode: 2 });
  }
}

/** There is nothing to act on: a mistyped name must not look as if something was done. */
export class NothingThereError extends CliError {
  constructor(message: string) {
    super(message, { exitCode: nothingThere });
  }
}

/** Ctrl-C at a prompt. */
export class InterruptedError extends Error {}
