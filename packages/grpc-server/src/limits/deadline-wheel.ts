/** A call in the wheel. The links belong to the wheel. */
export interface Timed {
  readonly deadline: number | undefined;
  previousTimed: Timed | undefined;
  nextTimed: Timed | undefined;
  timedSlot: number;
  expire(): void;
}

const slotMs = 20;
const slots = 512;
const ticksUntilStop = 50;
/** Others have their turn after so many calls that expire at once. */
const portion = 128;

/**
 * Deadlines of all calls on one timer. Calls end long before their deadlines, so adding and removing costs constant time
 * and only the calls of one slot are looked at each time. A deadline is noticed up to 20 ms late.
 */
export class DeadlineWheel {
  readonly #slots: (Timed | undefined)[] = Array.from({ length: slots }, () => undefined);
  #timer: NodeJS.Timeout | undefined;
  #turned = 0;
  #count = 0;
  #idleTicks = 0;
  #isResting = false;

  add(call: Timed): void {
    if (this.#timer === undefined) {
      this.#turned = Math.floor(performance.now() / slotMs);
      this.#timer = setInterval(() => this.#tick(), slotMs).unref();
    }
    // A deadline that has passed already waits for the next slot, not for its own to come round again.
    const slot = Math.max(Math.floor((call.deadline ?? 0) / slotMs), this.#turned) % slots;
    call.timedSlot = slot;
    const first = this.#slots[slot];
    call.nextTimed = first;
    call.previousTimed = undefined;
    if (first !== undefined) first.previousTimed = call;
    this.#slots[slot] = call;
    this.#count++;
  }

  remove(call: Timed): void {
    const { previousTimed: previous, nextTimed: next } = call;
    if (previous !== undefined) previous.nextTimed = next;
    else this.#slots[call.timedSlot] = next;
    if (next !== undefined) next.previousTimed = previous;
    call.previousTimed = undefined;
    call.nextTimed = undefined;
    this.#count--;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    if (this.#isResting) return;
    const now = performance.now();
    const until = Math.floor(now / slotMs);
    // After a long pause of the process, no slot is visited twice.
    for (let turn = Math.max(this.#turned, until - slots), left = portion; turn < until; turn++) {
      this.#turned = turn + 1;
      left = this.#expire(turn % slots, now, left);
      if (left > 0) continue;
      // The slot may have more: it is the next one again.
      this.#turned = turn;
      this.#rest();
      return;
    }
    this.#turned = until;
    this.#idleTicks = this.#count === 0 ? this.#idleTicks + 1 : 0;
    if (this.#idleTicks > ticksUntilStop) this.stop();
  }

  #rest(): void {
    this.#isResting = true;
    setImmediate(() => {
      this.#isResting = false;
      if (this.#timer !== undefined) this.#tick();
    });
  }

  /** Returns what is left of the portion. */
  #expire(slot: number, now: number, most: number): number {
    const due: Timed[] = [];
    for (let call = this.#slots[slot]; call !== undefined && due.length < most; call = call.nextTimed) {
      if ((call.deadline ?? 0) <= now) due.push(call);
    }
    for (const call of due) call.expire();
    return most - due.length;
  }
}
