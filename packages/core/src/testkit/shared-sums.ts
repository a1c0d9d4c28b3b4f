import { canonicalJson } from '../audit/canonical-json.ts';
import { emptyChain, sealer } from '../audit/chain.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { Batch } from '../journal/journal-ports.ts';
import { Journal } from '../journal/journal.ts';
import type { ForeignCommit } from '../journal/shared-log.ts';
import { sha256 } from './test-governance.ts';
import { ownWork } from '../journal/warrant.ts';

export interface SumChange {
  readonly kind: 'summed';
  readonly agent: string;
  readonly by: number;
}

export interface SumEvent {
  readonly type: 'sum';
  readonly of: string;
}

/** A journal of sums, one for each agent, on a log that another gateway writes, too. */
export class SharedSums {
  readonly sums = new Map<string, number>();
  readonly published: string[] = [];
  readonly done: string[] = [];
  readonly batches: Batch<SumChange, SumEvent>[] = [];
  /** What the store answers to the next commits. */
  readonly answers: (Error | undefined)[] = [];
  /** The answer to the next commit, if it takes its time. */
  later: Promise<void> | undefined;
  arrived: ForeignCommit<SumChange, SumEvent>[] = [];
  unread: ForeignCommit<SumChange, SumEvent>[] = [];
  prepared: Promise<void> | undefined;
  cannotFollow = false;
  /** What the next commits wait for before they are sealed. */
  readonly locks: (Promise<ForeignCommit<SumChange, SumEvent>[]> | undefined)[] = [];
  /** How often the store was told that nothing is to be written, so that others can go on. */
  letGo = 0;
  #due: (() => void)[] = [];

  readonly journal = new Journal<SumChange, SumEvent>(
    {
      commit: (batch) => {
        const { later: late } = this;
        this.later = undefined;
        if (late !== undefined) return late;
        const answer = this.answers.shift();
        if (answer !== undefined) return Promise.reject(answer);
        if (batch.entries.length > 0) this.batches.push(batch);
        else this.letGo++;
        return Promise.resolve();
      },
      soon: (flush) => this.#due.push(flush),
      apply: (fact) => ('agent' in fact ? this.#add(fact) : () => undefined),
      isRedone: () => false,
      touchOf: (fact) => ('agent' in fact ? { agent: fact.agent } : undefined),
      altersOf: () => [],
      claimsOf: () => [],
      seal: sealer(sha256),
      publish: (events) => this.published.push(...events.map(({ of }) => of)),
      onCommit: () => undefined,
      onError: () => undefined,
      sharing: {
        ready: () => this.arrived.splice(0),
        read: () => Promise.resolve(this.unread.splice(0)),
        lock: () => this.locks.shift(),
        prepare: () => this.prepared,
        failed: () => undefined,
        follow: ({ steps }) => {
          for (const step of steps) if ('change' in step) this.#add(step.change);
          if (this.cannotFollow) throw new Error('unknown step');
        },
      },
    },
    emptyChain,
  );

  #add({ agent, by }: SumChange): () => void {
    const add = (amount: number) => this.sums.set(agent, this.sumOf(agent) + amount);
    add(by);
    return () => add(-by);
  }

  sumOf(agent: string): number {
    return this.sums.get(agent) ?? 0;
  }

  /** Adds to an agent's sum, which may not pass 10, and answers with it. */
  add(agent: string, by: number): Promise<number | 'full'> {
    return this.journal.turn(ownWork, () => {
      if (this.sumOf(agent) + by > 10) {
        this.#record(agent, 'full');
        return 'full' as const;
      }
      this.journal.apply({ kind: 'summed', agent, by });
      this.journal.apply({ type: 'sum', of: agent });
      this.journal.onCommitted(() => this.done.push(agent));
      this.#record(agent, String(this.sumOf(agent)));
      return this.sumOf(agent);
    });
  }

  #record(agent: string, reason: string): void {
    const payload = canonicalJson({ agent });
    this.journal.record(draftOf({ at: 0, eventType: 'PolicyReloaded', actor: system, reason, payload }));
  }

  turn(): void {
    const due = this.#due;
    this.#due = [];
    for (const flush of due) flush();
  }

  /** The events of the other gateway, in the order in which they were followed. */
  get theirs(): string[] {
    return this.published.filter((of) => of.startsWith('their '));
  }

  get written(): (string | null)[] {
    return this.batches.flatMap(({ entries }) => entries.map(({ draft }) => draft.reason));
  }
}

export function theirCommit(seq: number, ...changes: SumChange[]): ForeignCommit<SumChange, SumEvent> {
  const touched = { agents: changes.map(({ agent }) => agent), orgs: [], everything: false };
  const steps = changes.flatMap((change) => [
    { change },
    { event: { type: 'sum', of: `their ${change.agent}` } as const },
  ]);
  return { head: { seq, hash: String(seq).padStart(64, '0') }, steps, touched, unread: [] };
}

/** Lets everything happen that waits for nothing else. */
export const later = () => new Promise((resolve) => setImmediate(resolve));
