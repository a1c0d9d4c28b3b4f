import { FloorError } from './floor-error.ts';
import type { FilePlan } from './jail/plan-files.ts';
import type { ReadyJail, WaitingJail } from './waiting-jail.ts';

/** So often a jail is made for a folder that changes meanwhile. */
const mostRounds = 4;

/** What is there now, and a jail for it. */
export interface MakesJails {
  readonly plan: () => FilePlan;
  readonly make: (plan: FilePlan) => WaitingJail;
}

/**
 * The jail of a program, made while the gateway is asked. What appears meanwhile counts, too: once the program may begin, a jail
 * that does not hold what is there by then is left, and another one made.
 */
export class EarlyJail implements AsyncDisposable {
  readonly #makes: MakesJails;
  readonly #asked: FilePlan;
  #jail: WaitingJail | undefined;
  /** What the jail was made for. */
  #made: FilePlan;
  #left: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(makes: MakesJails, asked: FilePlan) {
    this.#makes = makes;
    this.#asked = asked;
    this.#made = asked;
  }

  /** Makes the first one. */
  begin(): void {
    this.#jail = this.#makes.make(this.#asked);
  }

  /** Rejects if the jail cannot be made, although nothing has changed meanwhile: a socket of the host may have gone. */
  async stands(): Promise<ReadyJail> {
    for (let round = 1; ; round++) {
      const jail = (this.#jail ??= this.#another());
      try {
        return await jail.ready;
      } catch (error) {
        await this.leave();
        if (round === mostRounds || JSON.stringify(this.#plan().mounts) === JSON.stringify(this.#made.mounts))
          throw error;
      }
    }
  }

  /** The jail in which the program may begin. What was asked for must be what is there: nobody has approved more. */
  async take(): Promise<ReadyJail> {
    for (let round = 0; round < mostRounds; round++) {
      const ready = await this.stands();
      if (this.#jail?.holds(ready, this.#plan()) === true) return ready;
      await this.leave();
    }
    throw new FloorError('what is to be held in the working folder changes all the time; start it again');
  }

  #another(): WaitingJail {
    if (this.#isClosed) throw new FloorError('it was ended before it began');
    this.#made = this.#plan();
    return this.#makes.make(this.#made);
  }

  #plan(): FilePlan {
    const now = this.#makes.plan();
    const isSame = now.folder === this.#asked.folder && now.writable.join('\0') === this.#asked.writable.join('\0');
    if (isSame) return now;
    throw new FloorError('what the program may write has moved while it waited; start it again');
  }

  /** Nobody knows how long it takes until the program may begin, if ever. */
  async leave(): Promise<void> {
    const jail = this.#jail;
    this.#jail = undefined;
    this.#left = Promise.all([this.#left, jail?.leave()]);
    await this.#left;
  }

  /** From now on there is none. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.leave();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
