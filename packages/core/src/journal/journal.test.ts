import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../audit/canonical-json.ts';
import { emptyChain, sealer } from '../audit/chain.ts';
import { draftOf, system } from '../audit/entry.ts';
import type { EntryDraft } from '../audit/entry.ts';
import type { DomainEvent, Batch, Change } from '../store.ts';
import { looseAgent } from '../testkit/loose-agent.ts';
import { ManualClock } from '../testkit/manual-clock.ts';
import { sha256 } from '../testkit/test-governance.ts';
import type { Op } from '../ops/op.ts';
import { MovableOps } from '../testkit/registered-ops.ts';
import { Journal } from './journal.ts';

/** A journal whose turns end by hand. It logs everything that it did, in order. */
class TestJournal {
  readonly log: string[] = [];
  readonly batches: Batch[] = [];
  readonly published: DomainEvent[] = [];
  failure: Error | undefined;
  scheduled: (() => void)[] = [];
  readonly journal = new Journal<Change, DomainEvent>(
    {
      commit: (batch) => {
        this.log.push('commit');
        if (this.failure !== undefined) throw this.failure;
        this.batches.push(batch);
      },
      soon: (flush) => this.scheduled.push(flush),
      apply: () => () => undefined,
      isRedone: () => false,
      touchOf: () => undefined,
      altersOf: () => [],
      claimsOf: () => [],
      seal: sealer(sha256),
      publish: (events) => {
        this.log.push('publish');
        this.published.push(...events);
      },
      onCommit: (error) => this.log.push(error === undefined ? 'told of success' : 'told of failure'),
      onError: (error) => this.log.push(String(error)),
    },
    emptyChain,
  );

  turn(): void {
    const due = this.scheduled;
    this.scheduled = [];
    for (const flush of due) flush();
  }
}

function draft(reason: string): EntryDraft {
  return draftOf({ at: 0, eventType: 'PolicyReloaded', actor: system, reason, payload: canonicalJson({}) });
}

function change(seq: number): Change {
  return { kind: 'ops_replay_from', seq };
}

function event(version: string): DomainEvent {
  return { type: 'policy', at: 0, version, error: null, document: null };
}

function anOp(): Op {
  return new MovableOps(new ManualClock(), 1000).ingest(looseAgent('acme/search/bot'), 't:s').op;
}

describe('a turn', () => {
  test('is committed once, with everything that happened in it, in order', async () => {
    const tested = new TestJournal();
    tested.journal.record(draft('one'));
    tested.journal.apply(change(1));
    tested.journal.record(draft('two'));
    tested.journal.apply(change(2));
    expect(tested.scheduled).toHaveLength(1);
    expect(tested.batches).toEqual([]);
    const committed = tested.journal.committed();
    tested.turn();
    await committed;
    expect(tested.log.filter((entry) => entry === 'commit')).toHaveLength(1);
    expect(tested.batches[0]?.entries.map((entry) => entry.draft.reason)).toEqual(['one', 'two']);
    expect(tested.batches[0]?.entries.map((entry) => entry.seq)).toEqual([1, 2]);
    expect(tested.batches[0]?.changes).toEqual([change(1), change(2)]);
  });

  test('that nothing happened in commits nothing and is settled at once', async () => {
    const tested = new TestJournal();
    await tested.journal.committed();
    tested.journal.flush();
    expect(tested.log).toEqual([]);
  });

  test('does not settle before it is committed', async () => {
    const tested = new TestJournal();
    tested.journal.record(draft('one'));
    let settled = false;
    const waiting = tested.journal.committed().then(() => (settled = true));
    await Promise.resolve();
    await Promise.resolve();
    expect(settled).toBe(false);
    tested.turn();
    await waiting;
    expect(settled).toBe(true);
  });

  test('publishes its events in order, after the commit and before any answer', async () => {
    const tested = new TestJournal();
    tested.journal.apply(event('one'));
    tested.journal.record(draft('one'));
    tested.journal.apply(event('two'));
    const answered = tested.journal.committed().then(() => tested.log.push('answer'));
    expect(tested.published).toEqual([]);
    tested.turn();
    await answered;
    expect(tested.log).toEqual(['commit', 'told of success', 'publish', 'answer']);
    expect(tested.published).toEqual([event('one'), event('two')]);
  });

  test('has work done that waits for it, after the commit and before any answer', async () => {
    const tested = new TestJournal();
    tested.journal.record(draft('one'));
    tested.journal.onCommitted(() => tested.log.push('first'));
    tested.journal.onCommitted(() => {
      throw new Error('the second failed');
    });
    tested.journal.onCommitted(() => tested.log.push('third'));
    const answered = tested.journal.committed().then(() => tested.log.push('answer'));
    tested.turn();
    await answered;
    const afterwards = ['first', 'Error: the second failed', 'third', 'answer'];
    expect(tested.log).toEqual(['commit', 'told of success', 'publish', ...afterwards]);
  });

  test('that fails has nothing done that waits for it', async () => {
    const tested = new TestJournal();
    tested.failure = new Error('the disk is full');
    tested.journal.onCommitted(() => tested.log.push('done'));
    const answered = tested.journal.committed();
    tested.turn();
    await expect(answered).rejects.toMatchObject({ code: 'store_unavailable' });
    tested.failure = undefined;
    tested.journal.record(draft('another'));
    tested.turn();
    expect(tested.log).not.toContain('done');
  });

  test('that was flushed early is not committed again when its time comes', () => {
    const tested = new TestJournal();
    tested.journal.record(draft('one'));
    tested.journal.flush();
    tested.turn();
    expect(tested.batches).toHaveLength(1);
  });

  test('stamps operations with the entry that changed them, once it is durable', () => {
    const tested = new TestJournal();
    const op = anOp();
    tested.journal.record(draft('one'));
    tested.journal.record(draft('two'), op);
    expect(op.seq).toBe(0);
    tested.turn();
    expect(op.seq).toBe(2);
  });

  test('continues the chain where the last one ended', () => {
    const tested = new TestJournal();
    tested.journal.record(draft('one'));
    tested.turn();
    const [first] = tested.batches.flatMap((batch) => batch.entries);
    expect(tested.journal.head).toEqual({ seq: 1, hash: first?.hash });
    tested.journal.record(draft('two'));
    tested.turn();
    const [, second] = tested.batches.flatMap((batch) => batch.entries);
    expect(second?.canonical).toContain(`"prev_hash":"${first?.hash}"`);
  });
});

describe('a turn that cannot be committed', () => {
  test('is taken back in reverse order, fails its answers with store_unavailable and publishes nothing', async () => {
    const tested = new TestJournal();
    tested.failure = new Error('the disk is full');
    const op = anOp();
    for (const name of ['first', 'second', 'third'])
      tested.journal.applyLocally(() => () => tested.log.push(`undo ${name}`));
    tested.journal.record(draft('one'), op);
    tested.journal.apply(event('one'));
    const answer = tested.journal.committed();
    tested.turn();
    await expect(answer).rejects.toMatchObject({ name: 'ReeveError', code: 'store_unavailable' });
    expect(tested.log).toEqual(['commit', 'undo third', 'undo second', 'undo first', 'told of failure']);
    expect(tested.published).toEqual([]);
    expect(op.seq).toBe(0);
  });

  test('is undone before anyone is answered', async () => {
    const tested = new TestJournal();
    tested.failure = new Error('the disk is full');
    let value = 'changed';
    tested.journal.applyLocally(() => () => {
      value = 'as before';
    });
    const seen = tested.journal.committed().catch(() => value);
    tested.turn();
    expect(await seen).toBe('as before');
  });

  test('is not undone where it succeeds', () => {
    const tested = new TestJournal();
    tested.journal.applyLocally(() => () => tested.log.push('undo'));
    tested.turn();
    expect(tested.log).not.toContain('undo');
  });

  test('leaves the next turn to continue from the last durable entry, as if it had never been', async () => {
    const tested = new TestJournal();
    tested.journal.record(draft('kept'));
    tested.turn();
    const { head } = tested.journal;
    tested.failure = new Error('the disk is full');
    tested.journal.record(draft('lost'));
    tested.turn();
    expect(tested.journal.head).toEqual(head);
    tested.failure = undefined;
    tested.journal.record(draft('next'));
    const committed = tested.journal.committed();
    tested.turn();
    await committed;
    const entries = tested.batches.flatMap((batch) => batch.entries);
    expect(entries.map((entry) => [entry.seq, entry.draft.reason])).toEqual([
      [1, 'kept'],
      [2, 'next'],
    ]);
    expect(entries[1]?.canonical).toContain(`"prev_hash":"${head.hash}"`);
  });

  test('does not bring the process down where nobody waits for it', async () => {
    const tested = new TestJournal();
    tested.failure = new Error('the disk is full');
    tested.journal.record(draft('one'));
    tested.turn();
    await new Promise((resolve) => setImmediate(resolve));
    expect(tested.log).toContain('told of failure');
  });
});

test('over any sequence of turns, of which some fail, the chain is whole and memory is what is durable', async () => {
  const someTurn = fc.record({ fails: fc.boolean(), values: fc.array(fc.nat(), { maxLength: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(someTurn, { maxLength: 20 }), async (turns) => {
      const tested = new TestJournal();
      const memory: number[] = [];
      const durable: number[] = [];
      for (const { fails, values } of turns) {
        tested.failure = fails ? new Error('the disk is full') : undefined;
        for (const value of values) {
          memory.push(value);
          tested.journal.applyLocally(() => () => memory.pop());
          tested.journal.record(draft(String(value)));
          tested.journal.apply(event(String(value)));
        }
        const outcome = tested.journal.committed().then(
          () => 'durable',
          () => 'failed',
        );
        tested.turn();
        expect(await outcome).toBe(fails && values.length > 0 ? 'failed' : 'durable');
        if (!fails) durable.push(...values);
        expect(memory).toEqual(durable);
      }
      let head = emptyChain;
      const entries = tested.batches.flatMap((batch) => batch.entries);
      for (const entry of entries) {
        expect(entry.seq).toBe(head.seq + 1);
        expect(entry.hash).toBe(sha256(entry.canonical));
        expect(entry.canonical).toContain(`"prev_hash":"${head.hash}"`);
        head = entry;
      }
      expect(entries.map((entry) => Number(entry.draft.reason))).toEqual(durable);
      expect(tested.published).toEqual(durable.map((value) => event(String(value))));
      expect(tested.journal.head).toEqual({ seq: head.seq, hash: head.hash });
    }),
    { numRuns: 100 },
  );
});

test('what comes after the close is taken back, and the store is not asked', async () => {
  const tested = new TestJournal();
  tested.journal.record(draft('in time'));
  await tested.journal.close();
  expect(tested.log).toEqual(['commit', 'told of success', 'publish']);
  let value = 1;
  tested.journal.applyLocally(() => () => (value = 0));
  tested.journal.record(draft('late'));
  const late = tested.journal.committed();
  tested.turn();
  await expect(late).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(value).toBe(0);
  expect(tested.log).toEqual(['commit', 'told of success', 'publish']);
  await tested.journal.close();
});
