/** Why the gateway could not start, in one line that an operator can act on. */
export class StartError extends Error {
  /** 2 if the configuration is wrong, 1 for any other cause. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}
