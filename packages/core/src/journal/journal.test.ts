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
import { OpsRegistry } from '../ops/registry.ts';
import { Journal } from './journal.ts';

/** A journal whose turns end by hand, with all that it did, in the order in which it did it. */
class Desk {
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
      seal: sealer(sha256),
      publish: (events) => {
        this.log.push('publish');
        this.published.push(...events);
      },
      onCommit: (error) => this.log.push(error === undefined ? 'told of success' : 'told of failure'),
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
  return new OpsRegistry(new ManualClock(), 1000).ingest(looseAgent('acme/search/bot'), 't:s').op;
}

describe('a turn', () => {
  test('is committed once, with everything that happened in it, in order', async () => {
    const desk = new Desk();
    desk.journal.record(draft('one'));
    desk.journal.write(change(1));
    desk.journal.record(draft('two'));
    desk.journal.write(change(2));
    expect(desk.scheduled).toHaveLength(1);
    expect(desk.batches).toEqual([]);
    const committed = desk.journal.committed();
    desk.turn();
    await committed;
    expect(desk.log.filter((entry) => entry === 'commit')).toHaveLength(1);
    expect(desk.batches[0]?.entries.map((entry) => entry.draft.reason)).toEqual(['one', 'two']);
    expect(desk.batches[0]?.entries.map((entry) => entry.seq)).toEqual([1, 2]);
    expect(desk.batches[0]?.changes).toEqual([change(1), change(2)]);
  });

  test('that nothing happened in commits nothing and is settled at once', async () => {
    const desk = new Desk();
    await desk.journal.committed();
    desk.journal.flush();
    expect(desk.log).toEqual([]);
  });

  test('does not settle before it is committed', async () => {
    const desk = new Desk();
    desk.journal.record(draft('one'));
    let settled = false;
    const waiting = desk.journal.committed().then(() => (settled = true));
    await Promise.resolve();
    await Promise.resolve();
    expect(settled).toBe(false);
    desk.turn();
    await waiting;
    expect(settled).toBe(true);
  });

  test('publishes its events in order, after the commit and before any answer', async () => {
    const desk = new Desk();
    desk.journal.publish(event('one'));
    desk.journal.record(draft('one'));
    desk.journal.publish(event('two'));
    const answered = desk.journal.committed().then(() => desk.log.push('answer'));
    expect(desk.published).toEqual([]);
    desk.turn();
    await answered;
    expect(desk.log).toEqual(['commit', 'told of success', 'publish', 'answer']);
    expect(desk.published).toEqual([event('one'), event('two')]);
  });

  test('that was flushed early is not committed again when its time comes', () => {
    const desk = new Desk();
    desk.journal.record(draft('one'));
    desk.journal.flush();
    desk.turn();
    expect(desk.batches).toHaveLength(1);
  });

  test('stamps operations with the entry that changed them, once it is durable', () => {
    const desk = new Desk();
    const op = anOp();
    desk.journal.record(draft('one'));
    desk.journal.record(draft('two'), op);
    expect(op.seq).toBe(0);
    desk.turn();
    expect(op.seq).toBe(2);
  });

  test('continues the chain where the last one ended', () => {
    const desk = new Desk();
    desk.journal.record(draft('one'));
    desk.turn();
    const [first] = desk.batches.flatMap((batch) => batch.entries);
    expect(desk.journal.head).toEqual({ seq: 1, hash: first?.hash });
    desk.journal.record(draft('two'));
    desk.turn();
    const [, second] = desk.batches.flatMap((batch) => batch.entries);
    expect(second?.canonical).toContain(`"prev_hash":"${first?.hash}"`);
  });
});

describe('a turn that cannot be committed', () => {
  test('is taken back in reverse order, fails its answers with store_unavailable and publishes nothing', async () => {
    const desk = new Desk();
    desk.failure = new Error('the disk is full');
    const op = anOp();
    for (const name of ['first', 'second', 'third']) desk.journal.onFailure(() => desk.log.push(`undo ${name}`));
    desk.journal.record(draft('one'), op);
    desk.journal.publish(event('one'));
    const answer = desk.journal.committed();
    desk.turn();
    await expect(answer).rejects.toMatchObject({ name: 'ReeveError', code: 'store_unavailable' });
    expect(desk.log).toEqual(['commit', 'undo third', 'undo second', 'undo first', 'told of failure']);
    expect(desk.published).toEqual([]);
    expect(op.seq).toBe(0);
  });

  test('is undone before anyone is answered', async () => {
    const desk = new Desk();
    desk.failure = new Error('the disk is full');
    let value = 'changed';
    desk.journal.onFailure(() => {
      value = 'as before';
    });
    const seen = desk.journal.committed().catch(() => value);
    desk.turn();
    expect(await seen).toBe('as before');
  });

  test('is not undone where it succeeds', () => {
    const desk = new Desk();
    desk.journal.onFailure(() => desk.log.push('undo'));
    desk.turn();
    expect(desk.log).not.toContain('undo');
  });

  test('leaves the next turn to continue from the last durable entry, as if it had never been', async () => {
    const desk = new Desk();
    desk.journal.record(draft('kept'));
    desk.turn();
    const { head } = desk.journal;
    desk.failure = new Error('the disk is full');
    desk.journal.record(draft('lost'));
    desk.turn();
    expect(desk.journal.head).toEqual(head);
    desk.failure = undefined;
    desk.journal.record(draft('next'));
    const committed = desk.journal.committed();
    desk.turn();
    await committed;
    const entries = desk.batches.flatMap((batch) => batch.entries);
    expect(entries.map((entry) => [entry.seq, entry.draft.reason])).toEqual([
      [1, 'kept'],
      [2, 'next'],
    ]);
    expect(entries[1]?.canonical).toContain(`"prev_hash":"${head.hash}"`);
  });

  test('does not bring the process down where nobody waits for it', async () => {
    const desk = new Desk();
    desk.failure = new Error('the disk is full');
    desk.journal.record(draft('one'));
    desk.turn();
    await new Promise((resolve) => setImmediate(resolve));
    expect(desk.log).toContain('told of failure');
  });
});

test('over any sequence of turns, of which some fail, the chain is whole and memory is what is durable', async () => {
  const someTurn = fc.record({ fails: fc.boolean(), values: fc.array(fc.nat(), { maxLength: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(someTurn, { maxLength: 20 }), async (turns) => {
      const desk = new Desk();
      const memory: number[] = [];
      const durable: number[] = [];
      for (const { fails, values } of turns) {
        desk.failure = fails ? new Error('the disk is full') : undefined;
        for (const value of values) {
          memory.push(value);
          desk.journal.onFailure(() => memory.pop());
          desk.journal.record(draft(String(value)));
          desk.journal.publish(event(String(value)));
        }
        const outcome = desk.journal.committed().then(
          () => 'durable',
          () => 'failed',
        );
        desk.turn();
        expect(await outcome).toBe(fails && values.length > 0 ? 'failed' : 'durable');
        if (!fails) durable.push(...values);
        expect(memory).toEqual(durable);
      }
      let head = emptyChain;
      const entries = desk.batches.flatMap((batch) => batch.entries);
      for (const entry of entries) {
        expect(entry.seq).toBe(head.seq + 1);
        expect(entry.hash).toBe(sha256(entry.canonical));
        expect(entry.canonical).toContain(`"prev_hash":"${head.hash}"`);
        head = entry;
      }
      expect(entries.map((entry) => Number(entry.draft.reason))).toEqual(durable);
      expect(desk.published).toEqual(durable.map((value) => event(String(value))));
      expect(desk.journal.head).toEqual({ seq: head.seq, hash: head.hash });
    }),
    { numRuns: 100 },
  );
});

test('what comes after the close is taken back, and the store is not asked', async () => {
  const desk = new Desk();
  desk.journal.record(draft('in time'));
  await desk.journal.close();
  expect(desk.log).toEqual(['commit', 'told of success', 'publish']);
  let value = 1;
  desk.journal.onFailure(() => (value = 0));
  desk.journal.record(draft('late'));
  const late = desk.journal.committed();
  desk.turn();
  await expect(late).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(value).toBe(0);
  expect(desk.log).toEqual(['commit', 'told of success', 'publish']);
  await desk.journal.close();
});
