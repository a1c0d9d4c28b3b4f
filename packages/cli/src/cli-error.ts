/** Something that ends the command, said in words for whoever typed it. Control characters are taken out when it is shown. */
export class CliError extends Error {
  readonly exitCode: number;
  /** Shown as it is, without "error: " before it. */
  readonly bare: boolean;

  constructor(message: string, options: { exitCode?: number; bare?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
    this.bare = options.bare ?? false;
  }
}

/** The command was not written as it has to be, or the configuration is not in order. */
export class UsageError extends CliError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, exitCode: 2 });
  }
}

/** Ctrl-C, at a question. */
export class InterruptedError extends Error {}
