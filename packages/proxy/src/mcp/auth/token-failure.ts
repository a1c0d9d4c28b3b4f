/** No token for the server can be had. The message says what to do, and holds no secret. */
export class TokenFailure extends Error {
  /** The error code of the token endpoint, if it gave one. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}
