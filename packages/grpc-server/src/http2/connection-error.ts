import type { ErrorCode } from './frame.ts';
import { errorCode } from './frame.ts';

/** Ends the whole connection by GOAWAY with this code (RFC 9113 §5.4.1). */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function unexpected(frame: string): ConnectionError {
  return new ConnectionError(errorCode.protocolError, `${frame} has no place here`);
}

export function requireLength(length: number, right: number): void {
  if (length !== right) {
    throw new ConnectionError(errorCode.frameSizeError, `a frame has ${length} bytes, not ${right}`);
  }
}
