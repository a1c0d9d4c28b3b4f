/**
 * The bytes without a secret: an upstream that repeats its key in an answer does not give it away. Stars of the same
 * length take its place, so that lengths stay true.
 */
export function conceal(bytes: Buffer, secret: string | undefined): Buffer {
  if (secret === undefined || !bytes.includes(secret)) return bytes;
  const concealed = Buffer.from(bytes);
  const length = Buffer.byteLength(secret);
  for (let at = concealed.indexOf(secret); at >= 0; at = concealed.indexOf(secret, at + length)) {
    concealed.fill('*', at, at + length);
  }
  return concealed;
}

/** Bytes that pass in parts, without a secret that may be spread over any number of them. */
export class ConcealedParts {
  readonly #secret: string | undefined;
  /** May be the beginning of the secret, so it waits for what follows. */
  #begun = Buffer.alloc(0);

  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  /** What may pass now. */
  push(part: Buffer): Buffer {
    if (this.#secret === undefined) return part;
    const bytes = conceal(this.#begun.length === 0 ? part : Buffer.concat([this.#begun, part]), this.#secret);
    // One character for each byte.
    const secret = Buffer.from(this.#secret).toString('latin1');
    const known = bytes.length - begunAtEnd(bytes.subarray(-secret.length).toString('latin1'), secret);
    this.#begun = Buffer.from(bytes.subarray(known));
    return bytes.subarray(0, known);
  }

  /** What is left, once nothing follows. */
  end(): Buffer {
    return this.#begun;
  }
}

/** A text without a secret, as long as it was. */
export function concealText(text: string, secret: string): string {
  return text.replaceAll(secret, '*'.repeat(secret.length));
}

/** A value of JSON without a secret in its texts. */
export function concealIn<Value>(value: Value, secret: string | undefined): Value {
  if (secret === undefined) return value;
  const json = JSON.stringify(value);
  if (!json.includes(JSON.stringify(secret).slice(1, -1))) return value;
  return JSON.parse(json, (_, each: unknown) => (typeof each === 'string' ? concealText(each, secret) : each)) as Value;
}

/** How many characters at the end of a text may be the beginning of a secret. */
export function begunAtEnd(text: string, secret: string): number {
  for (let length = Math.min(text.length, secret.length - 1); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
