import { describe, expect, test } from 'vitest';
import { formOf, phraseOf, sayScope, scopeOf } from './control-scope.ts';
import { isOfAgent, titleOf } from './history-words.ts';
import { noticeText, whatHappened } from './notice-text.ts';
import { keyOf, partsOf } from './op.ts';
import { parseOpsSearch } from './ops-search.ts';
import { elapsedMs, explainReceipt, stepsOf } from './receipt.ts';
import { dueReceipts } from './receipt-watch.ts';
import { isShown, readViews, withView } from './saved-views.ts';
import { extendTo, nothing, onlyKnown, toggle, toggleAll } from './selection.ts';
import { aControl, anOp, at } from './testkit.ts';

describe('an address', () => {
  test('names org, team and agent, with a dash for an empty one, and can be taken apart again', () => {
    const op = anOp({ op_id: 'a:b', agent: { org_id: '', team_id: 'core', agent_id: 'bot' } });
    expect(keyOf(op)).toBe('-/core/bot/a:b');
    expect(partsOf('-/core/bot/a:b')).toEqual({ op_id: 'a:b', agent: op.agent });
    for (const bad of ['a:b', '', 'x/y/z', 'a/b/c/d:e/f', '-/-//a:b']) expect(partsOf(bad)).toBeUndefined();
  });
});

describe('a receipt', () => {
  const steps = (members: object) => stepsOf(aControl(members)).map(({ state }) => state);

  test('is done with a step only when its time is known', () => {
    expect(steps({})).toEqual(['done', 'waiting', 'ahead', 'ahead']);
    expect(steps({ status: 'acked', delivered_at: at(1), acked_at: at(2) })).toEqual([
      'done',
      'done',
      'done',
      'waiting',
    ]);
    expect(steps({ status: 'effective', acked_at: at(2), effective_at: at(2) })).toEqual([
      'done',
      'done',
      'done',
      'done',
    ]);
    expect(steps({ status: 'unconfirmed', delivered_at: at(1) })).toEqual(['done', 'done', 'failed', 'ahead']);
    expect(steps({ status: 'failed', delivered_at: at(1), acked_at: at(2) })).toEqual([
      'done',
      'done',
      'done',
      'failed',
    ]);
  });

  test('is a stopwatch that only the effect stops', () => {
    const asked = Date.parse(at(0));
    expect(elapsedMs(aControl({ status: 'acked', acked_at: at(100) }), asked + 5000)).toBe(5000);
    expect(elapsedMs(aControl({ status: 'effective', effective_at: at(1300) }), asked + 5000)).toBe(1300);
    expect(elapsedMs(aControl(), asked - 9000)).toBe(0);
  });

  test('claims no effect before the agent has confirmed one', () => {
    for (const status of ['requested', 'delivered', 'acked', 'unconfirmed', 'failed'] as const) {
      expect(explainReceipt(aControl({ status }))).not.toContain('confirms');
    }
    expect(explainReceipt(aControl({ status: 'effective' }))).toBe('The agent confirms that the work stands still.');
    expect(explainReceipt(aControl({ status: 'effective', evidence: 'kernel', processes: 12 }))).toBe(
      'The kernel confirms that the work stands still (processes: 12).',
    );
    expect(explainReceipt(aControl({ status: 'failed', detail: 'no handle.' }))).toContain('It says: no handle.');
  });
});

describe('a notice', () => {
  const actor = { kind: 'account', id: 'b', label: 'Bo' } as const;
  const op = anOp({ state: 'terminated', control: aControl({ action: 'terminate', actor, reason: 'runaway' }) });

  test('says what happened instead, by whom and why', () => {
    expect(noticeText({ kind: 'overtaken', action: 'pause', by: 'terminated', at: 0 }, { op })).toBe(
      'Not paused: it was stopped by Bo (runaway).',
    );
    expect(noticeText({ kind: 'overtaken', action: 'terminate', by: 'terminated', at: 0 }, { op })).toBe(
      'It was stopped by Bo (runaway) before.',
    );
  });

  test('of a refusal says what can be done now', () => {
    const refused = { kind: 'refused', action: 'pause', detail: 'no', code: 'invalid_transition', at: 0 } as const;
    const paused = anOp({ state: 'paused', control: aControl({ actor }) });
    expect(noticeText({ ...refused, state: 'paused', allowed: ['resume', 'terminate'] }, { op: paused })).toBe(
      'Not paused: it was paused by Bo. What can be done now: resume, terminate.',
    );
    expect(noticeText({ ...refused, state: 'completing', allowed: [] }, { op: anOp({ state: 'completing' }) })).toBe(
      'Not paused: it was finished by its agent. Nothing more can be done to it.',
    );
  });

  test('knows who ended it where no control did', () => {
    expect(whatHappened(anOp({ state: 'terminated', reason: 'denied by rule a/b' }))).toBe('denied');
    expect(whatHappened(anOp({ state: 'running' }))).toBe('still running');
  });
});

describe('a selection', () => {
  const order = ['a', 'b', 'c', 'd', 'e'];

  test('grows by a range from where it was begun, in either direction', () => {
    const began = toggle(nothing, 'c');
    expect([...extendTo(began, 'e', order).keys]).toEqual(['c', 'd', 'e']);
    expect([...extendTo(began, 'a', order).keys].toSorted()).toEqual(['a', 'b', 'c']);
    expect([...extendTo(nothing, 'b', order).keys]).toEqual(['b']);
    expect([...extendTo({ ...began, anchor: 'gone' }, 'b', order).keys]).toEqual(['c', 'b']);
  });

  test('takes all or nothing, and forgets what is gone', () => {
    const everything = toggleAll(nothing, order);
    expect(everything.keys.size).toBe(5);
    expect(toggleAll(everything, order)).toEqual(nothing);
    expect([...onlyKnown(everything, (key) => key < 'c').keys]).toEqual(['a', 'b']);
    expect(onlyKnown(everything, () => true)).toBe(everything);
  });
});

describe('a saved view', () => {
  const view = { name: 'Mine', filter: { org_id: 'acme', sort: '-cost' as const } };

  test('survives being kept, and what is broken is left out', () => {
    const kept = JSON.stringify([
      view,
      { name: '', filter: {} },
      7,
      { name: 'x' },
      { name: 'y', filter: { state: 'odd' } },
    ]);
    const [first, second, ...rest] = readViews(kept);
    expect(first?.filter).toMatchObject(view.filter);
    expect(second).toMatchObject({ name: 'y', filter: { state: undefined } });
    expect(rest).toEqual([]);
    for (const broken of [null, '', '{', '{}', 'null']) expect(readViews(broken)).toEqual([]);
  });

  test('replaces one of the same name, and is shown where the URL is the same', () => {
    expect(withView([view], { name: 'Mine', filter: {} })).toEqual([{ name: 'Mine', filter: {} }]);
    expect(isShown(view, { org_id: 'acme', sort: '-cost', op: 'a:b' })).toBe(true);
    expect(isShown(view, { org_id: 'acme' })).toBe(false);
  });
});

describe('a scope', () => {
  test('is what the filters name, the narrowest first', () => {
    expect(formOf({ org_id: 'acme', team_id: 'core', agent_id: 'bot' }).reach).toBe('agent');
    expect(formOf({}).reach).toBe('org');
  });

  test('is incomplete until it names something, so that nothing stands for everything', () => {
    const empty = { org: ' ', team: '', agent: '', run: '' };
    for (const reach of ['run', 'agent', 'team', 'org'] as const) expect(scopeOf({ ...empty, reach })).toBeUndefined();
    expect(scopeOf({ ...empty, reach: 'all' })).toEqual({ all: true });
  });

  test('says its own name', () => {
    const form = { org: 'acme', team: '-', agent: 'bot', run: 'r1' };
    const said = (['run', 'agent', 'team', 'org', 'all'] as const).map((reach) => {
      const scope = scopeOf({ ...form, reach });
      return scope === undefined ? undefined : [phraseOf(scope), sayScope(scope, null)];
    });
    expect(said).toEqual([
      ['r1', 'run r1 of org acme'],
      ['acme/-/bot', 'agent acme/-/bot'],
      ['acme/-', 'team acme/-'],
      ['acme', 'org acme'],
      ['everything', 'everything'],
    ]);
    expect(sayScope({ all: true }, 'acme')).toBe('everything of org acme');
  });
});

test('a search that makes no sense is left out', () => {
  expect(parseOpsSearch({ state: 'odd', sort: '-odd', org_id: '', q: 'x' })).toEqual({ q: 'x' });
});

describe('receipts that somebody looks at', () => {
  const now = Date.parse(at(60_000));
  const fresh = aControl({ id: 'fresh', requested_at: at(59_000) });
  const old = aControl({ id: 'old', status: 'acked' });
  const lost = aControl({ id: 'lost', status: 'unconfirmed' });
  const done = aControl({ id: 'done', status: 'effective' });
  const ids = (readAt: Readonly<Record<string, number>>, most = 9) =>
    dueReceipts([fresh, old, lost, done], new Map(Object.entries(readAt)), now, most).map(({ id }) => id);

  test('are read often at first, rarely later, and no more once they are effective', () => {
    const all = { fresh: now - 399, old: now - 2999, lost: now - 9999 };
    expect(ids(all)).toEqual([]);
    expect(ids({ ...all, fresh: now - 400 })).toEqual(['fresh']);
    expect(ids({ ...all, old: now - 3000 })).toEqual(['old']);
    expect(ids({ ...all, lost: now - 10_000 })).toEqual(['lost']);
  });

  test('come by turns, those that have waited the longest first', () => {
    expect(ids({ fresh: now - 5000, lost: now - 20_000, old: now - 9000 }, 2)).toEqual(['lost', 'old']);
  });
});

describe('the history', () => {
  const title = (event_type: string, payload: Record<string, unknown> = {}) => titleOf({ event_type, payload })[0];

  test('is in words', () => {
    expect(title('OpStateChanged', { from: 'running', to: 'paused' })).toBe('Running → Paused');
    expect(title('OpStateChanged', { from: 'running', to: 'completing' })).toBe('Running → Finished');
    expect(title('OpControlRequested', { action: 'pause' })).toBe('Pause requested');
    expect(title('OpControlAcknowledged', { action: 'pause', outcome: 'effective' })).toBe('Pause effective');
    expect(title('SomethingNew')).toBe('Something New');
  });

  test('is of this agent alone', () => {
    const lineage = {
      org_id: null,
      team_id: '',
      agent_id: 'bot',
      root_agent_id: 'bot',
      parent_agent_id: null,
      depth: 0,
    };
    expect(isOfAgent({ lineage }, { org_id: '', team_id: '', agent_id: 'bot' })).toBe(true);
    expect(isOfAgent({ lineage }, { org_id: 'acme', team_id: '', agent_id: 'bot' })).toBe(false);
  });
});
