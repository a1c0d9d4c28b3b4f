import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../audit/canonical-json.ts';
import { emptyChain, sealer } from '../audit/chain.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { EntryDraft, SealedEntry } from '../audit/entry.ts';
import type { Change, DomainEvent, Batch } from '../store.ts';
import { sha256 } from '../testkit/test-governance.ts';
import { Journal } from './journal.ts';

/** A journal on a slow store: each commit ends when the test says so. */
class SlowJournal {
  readonly durable: SealedEntry[] = [];
  readonly published: DomainEvent[] = [];
  readonly memory: string[] = [];
  #commit:
    | { readonly batch: Batch; readonly resolve: () => void; readonly reject: (error: unknown) => void }
    | undefined;
  #due: (() => void)[] = [];
  overlapped = false;

  readonly journal = new Journal<Change, DomainEvent>(
    {
      commit: (batch) => {
        this.overlapped ||= this.#commit !== undefined;
        return new Promise((resolve, reject) => {
          this.#commit = { batch, resolve, reject };
        });
      },
      soon: (flush) => this.#due.push(flush),
      apply: () => () => undefined,
      isRedone: () => false,
      touchOf: () => undefined,
      altersOf: () => [],
      claimsOf: () => [],
      seal: sealer(sha256),
      publish: (events) => this.published.push(...events),
      onCommit: () => undefined,
      onError: () => undefined,
    },
    emptyChain,
  );

  get inFlight(): readonly string[] | undefined {
    return this.#commit?.batch.entries.map((entry) => entry.draft.reason ?? '');
  }

  /** Makes a change in memory that can be taken back, and records it. */
  act(name: string): Promise<'durable' | 'failed'> {
    this.memory.push(name);
    this.journal.applyLocally(() => () => {
      expect(this.memory.pop()).toBe(name);
    });
    this.journal.record(draft(name));
    this.journal.apply({ type: 'policy', at: 0, version: name, error: null, document: null });
    return this.journal.committed().then(
      () => 'durable' as const,
      () => 'failed' as const,
    );
  }

  turn(): void {
    const due = this.#due;
    this.#due = [];
    for (const flush of due) flush();
  }

  async settle(error?: Error): Promise<void> {
    const commit = this.#commit;
    this.#commit = undefined;
    if (commit === undefined) return;
    if (error === undefined) {
      this.durable.push(...commit.batch.entries);
      commit.resolve();
    } else {
      commit.reject(error);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function draft(reason: string): EntryDraft {
  return draftOf({ at: 0, eventType: 'PolicyReloaded', actor: system, reason, payload: canonicalJson({}) });
}

const reasons = (entries: readonly SealedEntry[]) => entries.map((entry) => entry.draft.reason);

function expectWholeChain(entries: readonly SealedEntry[], from = emptyChain): void {
  let head = from;
  for (const entry of entries) {
    expect(entry.seq).toBe(head.seq + 1);
    expect(entry.canonical).toContain(`"prev_hash":"${head.hash}"`);
    head = entry;
  }
}

describe('a store that takes its time', () => {
  test('has one commit in flight, while the tested that follow are gathered into the next', async () => {
    const tested = new SlowJournal();
    const first = tested.act('one');
    tested.turn();
    const second = tested.act('two');
    tested.turn();
    const third = tested.act('three');
    tested.turn();
    expect(tested.inFlight).toEqual(['one']);
    await tested.settle();
    expect(await first).toBe('durable');
    expect(tested.inFlight).toEqual(['two', 'three']);
    await tested.settle();
    expect([await second, await third]).toEqual(['durable', 'durable']);
    expectWholeChain(tested.durable);
  });

  test('answers nobody and publishes nothing before its commit has settled', async () => {
    const tested = new SlowJournal();
    let answered = false;
    const answer = tested.act('one').then(() => (answered = true));
    tested.turn();
    await new Promise((resolve) => setImmediate(resolve));
    expect([answered, tested.published.length]).toEqual([false, 0]);
    await tested.settle();
    await answer;
    expect(tested.published).toHaveLength(1);
  });

  test('makes whoever asks meanwhile, without having changed anything, wait for what is in flight', async () => {
    const tested = new SlowJournal();
    void tested.act('one');
    tested.turn();
    let told = false;
    const waiting = tested.journal.committed().then(() => (told = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toBe(false);
    await tested.settle();
    await waiting;
  });

  test('takes a failed commit back together with what was built on it, the newest first', async () => {
    const tested = new SlowJournal();
    const first = tested.act('one');
    tested.turn();
    const second = tested.act('two');
    tested.turn();
    await tested.settle(new Error('the connection is gone'));
    expect([await first, await second]).toEqual(['failed', 'failed']);
    expect(tested.memory).toEqual([]);
    expect(tested.published).toEqual([]);
    const third = tested.act('three');
    tested.turn();
    await tested.settle();
    expect(await third).toBe('durable');
    expect(reasons(tested.durable)).toEqual(['three']);
    expectWholeChain(tested.durable);
  });

  test('closes when all that was gathered is durable', async () => {
    const tested = new SlowJournal();
    const first = tested.act('one');
    tested.turn();
    const second = tested.act('two');
    let closed = false;
    const closing = tested.journal.close().then(() => (closed = true));
    await tested.settle();
    expect(closed).toBe(false);
    await tested.settle();
    await closing;
    expect([await first, await second]).toEqual(['durable', 'durable']);
  });
});

test('over any interleaving of tested and commits, of which some fail, memory, log and answers agree', async () => {
  const step = fc.oneof(
    fc.constant('act' as const),
    fc.constant('turn' as const),
    fc.constant('settle' as const),
    fc.constant('fail' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const tested = new SlowJournal();
      const answers: { readonly name: string; readonly outcome: Promise<'durable' | 'failed'> }[] = [];
      for (const [index, what] of steps.entries()) {
        if (what === 'act') answers.push({ name: String(index), outcome: tested.act(String(index)) });
        else if (what === 'turn') tested.turn();
        else await tested.settle(what === 'fail' ? new Error('the connection is gone') : undefined);
      }
      tested.turn();
      while (tested.inFlight !== undefined) await tested.settle();
      const durable: string[] = [];
      for (const { name, outcome } of answers) if ((await outcome) === 'durable') durable.push(name);
      expect(tested.overlapped).toBe(false);
      expect(tested.memory).toEqual(durable);
      expect(reasons(tested.durable)).toEqual(durable);
      expect(tested.published).toHaveLength(durable.length);
      expectWholeChain(tested.durable);
    }),
    { numRuns: 150 },
  );
});
