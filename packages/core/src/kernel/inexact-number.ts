/** A number of a JSON text that a double does not hold. A condition that looks at it fails: nobody can tell what it says. */
export class InexactNumber {
  readonly written: string;

  constructor(written: string) {
    this.written = written;
  }
}
