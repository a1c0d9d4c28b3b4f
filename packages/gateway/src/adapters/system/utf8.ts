const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Texts as bytes. What is decoded is encoded to the same bytes again. */
export const utf8 = {
  /** Undefined if the bytes are not UTF-8: what they may have meant is not guessed. */
  decode(bytes: Uint8Array): string | undefined {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  },
  encode: (text: string): Uint8Array => encoder.encode(text),
};
