const { rawJSON } = JSON as unknown as { rawJSON(this: void, text: string): unknown };

/** A number of a JSON text that a double does not hold. A condition that looks at it fails: nobody can tell what it says. */
export class InexactNumber {
  readonly written: string;

  constructor(written: string) {
    this.written = written;
  }

  /** Where it is passed on, it has the digits that were sent. */
  toJSON(): unknown {
    return rawJSON(this.written);
  }
}
