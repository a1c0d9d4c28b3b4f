/** A field that holds bytes: its number, its length and its content. */
export function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  if (bytes.length > 127) throw new Error('a longer field needs a longer prefix');
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

/** An entry of a map of google.protobuf.Value. */
export function valueEntry(name: string, value: number | boolean | string): Buffer {
  return Buffer.concat([field(1, name), field(2, valueOf(value))]);
}

function valueOf(value: number | boolean | string): Buffer {
  if (typeof value === 'string') return field(3, value);
  if (typeof value === 'boolean') return Buffer.from([0x20, value ? 1 : 0]);
  const bytes = Buffer.alloc(9, 0x11);
  bytes.writeDoubleLE(value, 1);
  return bytes;
}
