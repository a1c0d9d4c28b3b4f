export interface HeldLimits {
  /** The most bytes of one thing that is held. */
  readonly most: number;
  /** The most bytes of all that is held at once. */
  readonly mostTogether: number;
}

/** What a chunk takes besides its bytes. Whoever sends can send one for each byte. */
const chunkOverhead = 128;
/** Of the room for all, one owner takes no more than this part, unless two things need more. */
const share = 1 / 4;

/** The room that one call has taken. */
export interface HeldRoom {
  /** False if there is no room for so much more. */
  take(bytes: number): boolean;
  /** Nobody needs the bytes any more. */
  release(): void;
}

/** Bounds what is held in memory: for each owner, an agent or its organization, and for all together. */
export class HeldBytes {
  readonly #limits: HeldLimits;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(limits: HeldLimits) {
    this.#limits = limits;
  }

  roomFor(owner: string): HeldRoom {
    let held = 0;
    const take = (bytes: number) => {
      const more = bytes + chunkOverhead;
      if (!this.#hasRoom(owner, more)) return false;
      held += more;
      this.#hold(owner, more);
      return true;
    };
    const release = () => {
      this.#hold(owner, -held);
      held = 0;
    };
    return { take, release };
  }

  #hold(owner: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#heldBy.get(owner) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(owner);
    else this.#heldBy.set(owner, held);
  }

  #hasRoom(owner: string, bytes: number): boolean {
    const { most, mostTogether } = this.#limits;
    const mostOfOne = Math.max(2 * most, mostTogether * share);
    return this.#held + bytes <= mostTogether && (this.#heldBy.get(owner) ?? 0) + bytes <= mostOfOne;
  }
}
