/** Unpredictable values, given by the outside: the core makes none itself. */
export interface Randomness {
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
  /** `bytes` random bytes as unpadded base64url. */
  base64url(bytes: number): string;
}
