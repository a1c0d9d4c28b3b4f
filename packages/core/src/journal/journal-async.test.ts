import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../audit/canonical-json.ts';
import { emptyChain, sealer } from '../audit/chain.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { EntryDraft, SealedEntry } from '../audit/entry.ts';
import type { Change, DomainEvent, Batch } from '../store.ts';
import { sha256 } from '../testkit/test-governance.ts';
import { Journal, HeadMoved } from './journal.ts';

/** A journal on a store that takes its time: each commit ends when the test says so. */
class SlowDesk {
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
      seal: sealer(sha256),
      publish: (events) => this.published.push(...events),
      onCommit: () => undefined,
    },
    emptyChain,
  );

  get inFlight(): readonly string[] | undefined {
    return this.#commit?.batch.entries.map((entry) => entry.draft.reason ?? '');
  }

  /** Does something in memory, on record, that can be taken back. */
  act(name: string): Promise<'durable' | 'failed'> {
    this.memory.push(name);
    this.journal.onFailure(() => {
      expect(this.memory.pop()).toBe(name);
    });
    this.journal.record(draft(name));
    this.journal.publish({ type: 'policy', at: 0, version: name, error: null, document: null });
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
  test('has one commit in flight, while the turns that follow are gathered into the next', async () => {
    const desk = new SlowDesk();
    const first = desk.act('one');
    desk.turn();
    const second = desk.act('two');
    desk.turn();
    const third = desk.act('three');
    desk.turn();
    expect(desk.inFlight).toEqual(['one']);
    await desk.settle();
    expect(await first).toBe('durable');
    expect(desk.inFlight).toEqual(['two', 'three']);
    await desk.settle();
    expect([await second, await third]).toEqual(['durable', 'durable']);
    expectWholeChain(desk.durable);
  });

  test('answers nobody and publishes nothing before its commit has settled', async () => {
    const desk = new SlowDesk();
    let answered = false;
    const answer = desk.act('one').then(() => (answered = true));
    desk.turn();
    await new Promise((resolve) => setImmediate(resolve));
    expect([answered, desk.published.length]).toEqual([false, 0]);
    await desk.settle();
    await answer;
    expect(desk.published).toHaveLength(1);
  });

  test('makes whoever asks meanwhile, without having changed anything, wait for what is in flight', async () => {
    const desk = new SlowDesk();
    void desk.act('one');
    desk.turn();
    let told = false;
    const waiting = desk.journal.committed().then(() => (told = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toBe(false);
    await desk.settle();
    await waiting;
  });

  test('takes a failed commit back together with what was built on it, the newest first', async () => {
    const desk = new SlowDesk();
    const first = desk.act('one');
    desk.turn();
    const second = desk.act('two');
    desk.turn();
    await desk.settle(new Error('the connection is gone'));
    expect([await first, await second]).toEqual(['failed', 'failed']);
    expect(desk.memory).toEqual([]);
    expect(desk.published).toEqual([]);
    const third = desk.act('three');
    desk.turn();
    await desk.settle();
    expect(await third).toBe('durable');
    expect(reasons(desk.durable)).toEqual(['three']);
    expectWholeChain(desk.durable);
  });

  test('seals again behind the entries of another gateway that came first', async () => {
    const desk = new SlowDesk();
    const answer = desk.act('one');
    desk.turn();
    const elsewhere = { seq: 7, hash: 'f'.repeat(64) };
    await desk.settle(new HeadMoved(elsewhere));
    expect(desk.inFlight).toEqual(['one']);
    await desk.settle();
    expect(await answer).toBe('durable');
    expectWholeChain(desk.durable, elsewhere);
    expect(desk.journal.head.seq).toBe(8);
  });

  test('closes when all that was gathered is durable', async () => {
    const desk = new SlowDesk();
    const first = desk.act('one');
    desk.turn();
    const second = desk.act('two');
    let closed = false;
    const closing = desk.journal.close().then(() => (closed = true));
    await desk.settle();
    expect(closed).toBe(false);
    await desk.settle();
    await closing;
    expect([await first, await second]).toEqual(['durable', 'durable']);
  });
});

test('a change is pending from when it is made until its commit has settled, however that ends', async () => {
  const isPending = (desk: SlowDesk) => desk.journal.isPending((change) => change.kind === 'ops_forgotten');
  for (const failure of [undefined, new Error('the connection is gone')]) {
    const desk = new SlowDesk();
    expect(isPending(desk)).toBe(false);
    desk.journal.write({ kind: 'ops_forgotten' });
    expect(isPending(desk)).toBe(true);
    expect(desk.journal.isPending((change) => change.kind === 'agent_removed')).toBe(false);
    desk.turn();
    expect(isPending(desk)).toBe(true);
    await desk.settle(failure);
    expect(isPending(desk)).toBe(false);
  }
});

test('over any interleaving of turns and commits, of which some fail, memory, log and answers agree', async () => {
  const step = fc.oneof(
    fc.constant('act' as const),
    fc.constant('turn' as const),
    fc.constant('settle' as const),
    fc.constant('fail' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const desk = new SlowDesk();
      const answers: { readonly name: string; readonly outcome: Promise<'durable' | 'failed'> }[] = [];
      for (const [index, what] of steps.entries()) {
        if (what === 'act') answers.push({ name: String(index), outcome: desk.act(String(index)) });
        else if (what === 'turn') desk.turn();
        else await desk.settle(what === 'fail' ? new Error('the connection is gone') : undefined);
      }
      desk.turn();
      while (desk.inFlight !== undefined) await desk.settle();
      const durable: string[] = [];
      for (const { name, outcome } of answers) if ((await outcome) === 'durable') durable.push(name);
      expect(desk.overlapped).toBe(false);
      expect(desk.memory).toEqual(durable);
      expect(reasons(desk.durable)).toEqual(durable);
      expect(desk.published).toHaveLength(durable.length);
      expectWholeChain(desk.durable);
    }),
    { numRuns: 150 },
  );
});
