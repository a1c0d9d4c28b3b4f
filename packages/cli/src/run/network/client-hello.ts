/** The server name of a TLS handshake: a name, none, or `undefined` if the message cannot be trusted to be one. */
export function serverNameOf(hello: Buffer): string | null | undefined {
  const reader = new Reader(hello);
  const body = reader.byte() === clientHello ? reader.vector(3) : undefined;
  if (body === undefined || !reader.isAtEnd) return undefined;
  const fields = new Reader(body);
  fields.skip(2 + 32);
  fields.vector(1);
  fields.vector(2);
  fields.vector(1);
  const extensions = fields.isAtEnd ? Buffer.alloc(0) : fields.vector(2);
  if (extensions === undefined || !fields.isAtEnd) return undefined;
  const names: (string | undefined)[] = [];
  const each = new Reader(extensions);
  while (!each.isAtEnd) {
    const type = each.number(2);
    const data = each.vector(2);
    if (type === undefined || data === undefined) return undefined;
    if (type === serverNameExtension) names.push(hostNameIn(data));
  }
  return names.length > 1 ? undefined : names.length === 0 ? null : names[0];
}

export const clientHello = 1;
const serverNameExtension = 0;
const hostName = 0;

/** Exactly one name: of several, nobody knows which the server takes. */
function hostNameIn(data: Buffer): string | undefined {
  const outer = new Reader(data);
  const list = outer.vector(2);
  if (list === undefined || !outer.isAtEnd) return undefined;
  const entry = new Reader(list);
  const type = entry.byte();
  const name = entry.vector(2);
  return type === hostName && name !== undefined && entry.isAtEnd ? name.toString('latin1').toLowerCase() : undefined;
}

/** Reads lengths and what they announce. Whatever is missing is undefined. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  skip(length: number): void {
    this.#at += length;
  }

  byte(): number | undefined {
    return this.number(1);
  }

  number(length: number): number | undefined {
    if (this.#at + length > this.#bytes.length) return undefined;
    const value = this.#bytes.readUIntBE(this.#at, length);
    this.#at += length;
    return value;
  }

  vector(width: number): Buffer | undefined {
    const length = this.number(width);
    if (length === undefined || this.#at + length > this.#bytes.length) return undefined;
    const content = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return content;
  }
}
