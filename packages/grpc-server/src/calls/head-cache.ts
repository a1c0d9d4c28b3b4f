const mostHeads = 8;
const largestBlock = 1024;

interface Known<Head> {
  readonly block: Buffer;
  readonly head: Head;
}

/**
 * Heads by the bytes of their header blocks. Peers repeat blocks, so most calls decode nothing. The same bytes mean the
 * same only as long as the dynamic table stays the same: `version` says whether it did.
 */
export class HeadCache<Head> {
  #known: Known<Head>[] = [];
  #version = 0;
  #replaced = 0;

  find(version: number, bytes: Buffer, start: number, end: number): Head | undefined {
    if (version !== this.#version) return undefined;
    for (const { block, head } of this.#known) {
      if (block.length === end - start && isSame(block, bytes, start)) return head;
    }
    return undefined;
  }

  /** Call it only if decoding the block left the table as it was. */
  add(version: number, bytes: Buffer, start: number, end: number, head: Head): void {
    if (end - start > largestBlock) return;
    if (version !== this.#version) this.#known = [];
    this.#version = version;
    const entry = { block: Buffer.from(bytes.subarray(start, end)), head };
    if (this.#known.length < mostHeads) this.#known.push(entry);
    else this.#known[this.#replaced++ % mostHeads] = entry;
  }
}

const fewBytes = 32;

function isSame(block: Buffer, bytes: Buffer, start: number): boolean {
  const { length } = block;
  // Blocks of one client differ late: at a credential or a trace. Calling out of JavaScript pays only for long ones.
  if (length > fewBytes) return block.compare(bytes, start, start + length) === 0;
  for (let at = 0; at < length; at++) if (block[at] !== bytes[start + at]) return false;
  return true;
}
