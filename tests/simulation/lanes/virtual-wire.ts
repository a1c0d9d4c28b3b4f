import type { Random } from '../random.ts';
import type { Fate } from '../virtual-log.ts';
import type { AnyCommit } from './lane-facts.ts';

/** A gateway, as far as the wire knows it. */
interface Member {
  hear(commit: AnyCommit): void;
}

/** Something that a gateway has asked the database for, and that has not happened yet. */
interface Ask<Gateway> {
  readonly by: Gateway;
  readonly writes: boolean;
  readonly work: () => void;
  readonly fail: (error: Error) => void;
}

/** The database cannot be reached. */
export class Unreachable extends Error {}

/** Between gateways, and to the database. Nothing moves by itself: a step says what happens next, and how. */
export class VirtualWire<Gateway extends Member> {
  readonly #asks: Ask<Gateway>[] = [];
  readonly #messages: { readonly to: Gateway; readonly commit: AnyCommit }[] = [];
  readonly #members = new Set<Gateway>();

  get waiting(): number {
    return this.#asks.length;
  }

  get underWay(): number {
    return this.#messages.length;
  }

  join(gateway: Gateway): void {
    this.#members.add(gateway);
  }

  /** A gateway has ended. What it had asked for may still happen, and nobody hears of it. */
  leave(gateway: Gateway, random: Random): void {
    this.#members.delete(gateway);
    for (const ask of this.#asks.filter(({ by }) => by === gateway)) {
      this.#asks.splice(this.#asks.indexOf(ask), 1);
      if (ask.writes && random.chance(0.5)) ask.work();
    }
    const kept = this.#messages.filter(({ to }) => to !== gateway);
    this.#messages.splice(0, this.#messages.length, ...kept);
  }

  /** Whoever has ended is not answered, and asks for nothing more. */
  ask<Result>(by: Gateway, kind: 'read' | 'write', work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (!this.#members.has(by)) return;
      this.#asks.push({
        by,
        writes: kind === 'write',
        work: () => {
          const result = work();
          if (this.#members.has(by)) resolve(result);
        },
        fail: reject,
      });
    });
  }

  /** The database does the nth thing that it was asked for. Returns who is left in doubt, if the answer is lost. */
  work(nth: number, fate: Fate): Gateway | undefined {
    const [ask] = this.#asks.splice(nth, 1);
    if (ask === undefined) return undefined;
    if (fate === 'refused') {
      ask.fail(new Unreachable());
      return undefined;
    }
    const isLost = fate === 'answer lost' && ask.writes;
    if (isLost) this.#members.delete(ask.by);
    ask.work();
    return isLost ? ask.by : undefined;
  }

  /** Every gateway is told of every commit, and takes what it follows. */
  tell(commit: AnyCommit): void {
    for (const to of this.#members) this.#messages.push({ to, commit });
  }

  /** The nth message arrives. It may arrive again. */
  deliver(nth: number, isRepeated: boolean): void {
    const message = this.#messages[nth];
    if (!isRepeated) this.lose(nth);
    message?.to.hear(message.commit);
  }

  lose(nth: number): void {
    this.#messages.splice(nth, 1);
  }
}
