/**
 * A header field. Names and values are bytes, one per UTF-16 unit. The same object serves all blocks that refer to it,
 * so what was found out about it once need not be found out again.
 */
export class Field {
  readonly name: string;
  readonly value: string;
  /** A note of whoever reads fields; see `field-rules.ts`. */
  note: number = -1;

  constructor(name: string, value: string) {
    this.name = name;
    this.value = value;
  }
}
