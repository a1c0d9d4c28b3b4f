import { expect, test } from 'vitest';
import { parseCommit } from '../replication/commit-text.ts';
import type { Batch, DomainEvent, Store } from '../store.ts';
import { emptyChain } from '../audit/chain.ts';
import { bareRecord } from '../ops/op.ts';
import { sampleDraft, sealAll } from './store-samples.ts';

const agent = { orgId: 'acme', teamId: 'search', agentId: 'bot' };

function asked(opId: string): DomainEvent {
  return { type: 'ops_change', at: 1, agent, op: bareRecord(agent, opId, 1) };
}

function told(...opIds: readonly string[]): Pick<Batch, 'told'> {
  const events = opIds.map(asked);
  const touched = { agents: ['acme/search/bot'], orgs: [], everything: false };
  return { told: { events, steps: events.map((event) => ({ event })), touched } };
}

/** What every store does with the facts that a start applies again. */
export function factsConformance(get: () => Store): void {
  test('the facts of commits are read in order, after an entry, and forgotten up to an entry', async () => {
    const store = get();
    const [one, two, three] = sealAll([sampleDraft(), sampleDraft(), sampleDraft()], emptyChain);
    if (one === undefined || two === undefined || three === undefined) throw new Error('there are three');
    await store.commit({ entries: [one], changes: [], ...told('a', 'b') });
    await store.commit({ entries: [two], changes: [] });
    await store.commit({ entries: [], changes: [], ...told('c') });
    await store.commit({ entries: [three], changes: [], ...told('d') });
    await store.load();
    const all = async (seq: number) => {
      const found: string[] = [];
      let page = await store.factsAfter(0, seq);
      for (; page.length > 0; page = await store.factsAfter(page.at(-1)?.position ?? 0, seq)) {
        for (const { before, seq: head, facts } of page) {
          for (const step of parseCommit(facts).steps) {
            if ('event' in step && step.event.type === 'ops_change')
              found.push(`${before} ${head} ${step.event.op.opId}`);
          }
        }
      }
      return found;
    };
    expect(await all(0)).toEqual(['0 1 a', '0 1 b', '2 2 c', '2 3 d']);
    expect(await all(1)).toEqual(['2 2 c', '2 3 d']);
    await store.forgetFacts(1, 10);
    expect(await all(1)).toEqual(['2 2 c', '2 3 d']);
  });
}
