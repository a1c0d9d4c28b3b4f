const firstBytes = 256;
const empty: Buffer = Buffer.alloc(0);

/**
 * Bytes that were received and wait to be read, in one buffer, so that tiny pieces cost no more than their bytes. What
 * is read from the front costs nothing for the rest: a byte is copied a constant number of times, on average.
 */
export class KeptBytes {
  bytes: Buffer = empty;
  start = 0;
  end = 0;

  get length(): number {
    return this.end - this.start;
  }

  add(bytes: Buffer, start: number, end: number): void {
    const needed = this.length + end - start;
    if (this.end + end - start > this.bytes.length) this.#move(Math.max(needed * 2, firstBytes));
    bytes.copy(this.bytes, this.end, start, end);
    this.end += end - start;
  }

  /** All before this place was read. */
  drop(until: number): void {
    this.start = Math.min(until, this.end);
    if (this.length === 0) this.clear();
    else if (this.bytes.length > firstBytes && this.length <= this.bytes.length / 8) this.#move(this.length * 2);
  }

  clear(): void {
    this.bytes = empty;
    this.start = 0;
    this.end = 0;
  }

  #move(capacity: number): void {
    const moved = Buffer.allocUnsafeSlow(capacity);
    this.bytes.copy(moved, 0, this.start, this.end);
    this.bytes = moved;
    this.end -= this.start;
    this.start = 0;
  }
}
