import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shownOf } from '../../events/shown-parts.ts';
import { goldenFacts } from '../../testkit/golden-facts.ts';
import { hostileText, madeUpFacts, madeUpTouched, wholeFacts } from '../../testkit/made-up-facts.ts';
import { commitText, factsText, parseCommit } from '../commit-text.ts';
import { namedText } from '../named-facts.ts';
import type { AnyStep } from '../facts-of-commit.ts';
import type { CommitReading } from './codec.ts';
import { CommitWriting, nothingInterned } from './codec.ts';
import type { SchemaOf } from './common.ts';
import { record } from './record.ts';
import { integer, nullable, optional, text, word } from './values.ts';

const nobody = { agents: [], orgs: [], everything: false };
const names = [...madeUpFacts.keys()];
const some = fc.array(fc.oneof(...madeUpFacts.values()), { maxLength: 8 });

describe.each(names)('%s', (name) => {
  const fact = madeUpFacts.get(name) ?? fc.constant({} as AnyStep);

  test('arrives as it was, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(fact, { minLength: 1, maxLength: 4 }), madeUpTouched, (steps, touched) => {
        expect(parseCommit(commitText({ steps, touched }))).toStrictEqual({ steps, touched, unread: [] });
      }),
    );
  });

  test('is written as it was in every release, and all of its former texts are read', () => {
    const texts = goldenFacts[name as keyof typeof goldenFacts];
    const whole = wholeFacts.get(name) as AnyStep;
    for (const each of texts) expect(parseCommit(each)).toMatchObject({ steps: [{}], unread: [] });
    expect(commitText({ steps: [whole], touched: nobody })).toBe(texts.at(-1));
    expect(parseCommit(texts.at(-1) ?? '').steps).toStrictEqual([whole]);
  });
});

test('facts of many kinds arrive together: their texts are shared, and the agents that the commit touches', () => {
  fc.assert(
    fc.property(some, madeUpTouched, (steps, touched) => {
      expect(parseCommit(commitText({ steps, touched }))).toStrictEqual({ steps, touched, unread: [] });
      expect(parseCommit(factsText({ steps, touched })).unread).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('gateways of the first release get what they can read: the same facts with all names', () => {
  fc.assert(
    fc.property(some, madeUpTouched, (steps, touched) => {
      const sent = namedText({ steps, touched });
      expect(sent.startsWith('{"steps":[')).toBe(true);
      // They count an event for each step.
      const told = steps.flatMap<AnyStep>((step) =>
        'event' in step ? shownOf(step.event).map((event) => ({ event })) : [step],
      );
      expect(parseCommit(sent)).toEqual({ steps: told, touched, unread: [] });
    }),
    { numRuns: 200 },
  );
});

describe('releases live side by side', () => {
  interface Older {
    readonly id: string;
    readonly inner: { readonly count: number };
  }
  interface Newer {
    readonly id: string;
    readonly inner: { readonly count: number; readonly note: string | null };
    readonly more?: string;
  }
  const older = record<Older>({ id: text, inner: record({ count: integer }) });
  const newer = record<Newer>({
    id: text,
    inner: record({ count: integer, note: nullable(text) }),
    more: optional(text),
  });
  const reading = (texts: readonly string[]): CommitReading => ({
    interned: nothingInterned,
    texts,
    agents: [],
    base: 0,
  });
  const writing = () => new CommitWriting([], { texts: true, ops: true });

  test('an older one leaves out the members that it does not know', () => {
    const to = writing();
    const row = newer.write({ id: 'a1', inner: { count: 1, note: 'b2' }, more: 'c3' }, to);
    expect(older.read(row, reading(to.texts))).toStrictEqual({ id: 'a1', inner: { count: 1 } });
  });

  test('a newer one reads what lacks its members', () => {
    const to = writing();
    const row = older.write({ id: 'a1', inner: { count: 1 } }, to);
    const read = newer.read(row, reading(to.texts));
    expect(read).toStrictEqual({ id: 'a1', inner: { count: 1, note: null } });
  });

  test('a record of an older one is written again, though it lacks what may be null now', () => {
    const made = { id: 'a1', inner: { count: 1 } } as Newer;
    expect(newer.read(newer.write(made, writing()), reading(['a1']))).toStrictEqual({
      id: 'a1',
      inner: { count: 1, note: null },
    });
  });

  test.each(names)('%s with more at its end is read', (name) => {
    const steps = [wholeFacts.get(name) as AnyStep];
    const [form, base, agents, orgs, all, texts, rows] = JSON.parse(
      commitText({ steps, touched: nobody }),
    ) as unknown[];
    const longer = (rows as unknown[][]).map((row) => [...row, 7, ['later'], null]);
    const sent = JSON.stringify([form, base, agents, orgs, all, texts, longer, 'later']);
    expect(parseCommit(sent)).toStrictEqual({ steps, touched: nobody, unread: [] });
  });

  test('a kind that is not known is unread, and the others are read', () => {
    const read = parseCommit('[2,0,["acme/red/one"],["acme"],0,["newer"],[[0,1],["ops_forgotten"],["constructor"]]]');
    expect(read.steps).toEqual([{ change: { kind: 'ops_forgotten' } }]);
    const touched = { agents: ['acme/red/one'], orgs: ['acme'], everything: false };
    const why = (nth: number) => `step ${nth} of 3: it is of a kind that this release does not know`;
    expect(read.unread).toEqual([
      { touched, why: why(1) },
      { touched, why: why(3) },
    ]);
  });

  test('a version that is not known is unread as a whole', () => {
    expect(parseCommit('[3,0,[],[],0,[],[]]')).toMatchObject({ steps: [], unread: [{ touched: null }] });
  });
});

describe('whatever bytes come, they are facts or unread', () => {
  /** It never throws, and what it gives as read is what it would write and read again. */
  const mustStand = (sent: string) => {
    const { steps, touched, unread } = parseCommit(sent);
    expect(steps.length + unread.length).toBeLessThanOrEqual(sent.length + 1);
    if (sent.startsWith('[')) {
      expect(parseCommit(commitText({ steps, touched }))).toEqual({ steps, touched, unread: [] });
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    for (const { why } of unread) expect(why).not.toContain('secret');
  };

  test('any text', () => {
    fc.assert(fc.property(fc.oneof(hostileText, fc.json(), fc.string({ unit: 'binary' })), mustStand), {
      numRuns: 2000,
    });
  });

  const hostile = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    hostileText,
    fc.constantFrom<unknown>(-1, 1e300, 2 ** 53, 0.5, [], {}, [[]], null, 'secret', { __proto__: null, length: 9 }),
  );

  /** Replaces the nth value of a tree, counted in the order in which they stand. */
  const replaced = (value: unknown, nth: { left: number }, by: unknown): unknown => {
    if (nth.left-- === 0) return by;
    return Array.isArray(value) ? value.map((item) => replaced(item, nth, by)) : value;
  };

  test('a commit with any of its values replaced', () => {
    fc.assert(
      fc.property(some, madeUpTouched, fc.nat({ max: 200 }), hostile, (steps, touched, nth, by) => {
        const written: unknown = JSON.parse(commitText({ steps, touched }));
        mustStand(JSON.stringify(replaced(written, { left: nth }, by)));
      }),
      { numRuns: 3000 },
    );
  });

  test('a commit that is cut, or has other characters in it', () => {
    fc.assert(
      fc.property(some, madeUpTouched, fc.nat(), fc.nat(), hostileText, (steps, touched, from, count, by) => {
        const sent = commitText({ steps, touched });
        const at = from % sent.length;
        mustStand(sent.slice(0, at) + by + sent.slice(at + (count % 4)));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['deep lists', `[2,0,[],[],0,[],[${'['.repeat(100_000)}${']'.repeat(100_000)}]]`],
    [
      'deep details',
      `[2,0,[],[],0,[],[["audit_alert",0,null,"impersonation",${'['.repeat(50_000)}${']'.repeat(50_000)}]]]`,
    ],
    [
      'a long sum',
      `[2,0,[],[],0,[],[["budget",0,["org","a","",""],"corrected","day",null,null,null,null,"${'9'.repeat(200_000)}"]]]`,
    ],
    ['a number that is not finite', '[2,1e999,[],[],0,[],[["backup_taken",0]]]'],
    ['a time that is not finite', '[2,0,[],[],0,[],[["backup_taken",1e999]]]'],
    ['a number that is -0', '[2,0,[],[],0,[],[["ops_replay_from",-0]]]'],
    ['a time that is -0', '[2,-0,[],[],0,[],[["backup_taken",-0]]]'],
    ['a -0 in details', '[2,0,[],[],0,[],[["audit_alert",0,null,"impersonation",{"a":[-0]}]]]'],
    ['a text that is not there', '[2,0,[],[],0,[],[["signing_key_removed",99]]]'],
    [
      'a text by the name of a member',
      '[2,0,[],[],0,["x"],[["signing_key_removed","length"],["signing_key_removed",-1]]]',
    ],
    [
      'a number in details that is not finite',
      '[2,0,[],[],0,[],[["audit_alert",0,null,"impersonation",{"a":[1e999]}]]]',
    ],
  ])('%s', (_, sent) => {
    mustStand(sent);
  });

  test('names of members that are data stay data', () => {
    const sent =
      '[2,0,["a/b/c"],[],0,[],[["agent_saved",[0,null,"","","",null,["__proto__","polluted","constructor","x"],0,0]]]]';
    const [step] = parseCommit(sent).steps;
    const fact = step !== undefined && 'change' in step && step.change.kind === 'agent_saved' ? step.change : undefined;
    expect(Object.entries(fact?.agent.metadata ?? {})).toEqual([
      ['__proto__', 'polluted'],
      ['constructor', 'x'],
    ]);
    expect(Object.getPrototypeOf(fact?.agent.metadata)).toBe(Object.prototype);
  });
});

test('a schema that lacks a kind or a member does not compile', () => {
  type Fact = { readonly kind: 'one'; readonly id: string; readonly more?: string } | { readonly type: 'two' };
  const whole: SchemaOf<Fact> = { one: { id: text, more: optional(text) }, two: {} };
  // @ts-expect-error a kind is missing
  const withoutKind: SchemaOf<Fact> = { one: { id: text, more: optional(text) } };
  // @ts-expect-error a member is missing
  const withoutMember: SchemaOf<Fact> = { one: { more: optional(text) }, two: {} };
  // @ts-expect-error a member that may be missing is missing
  const withoutOptional: SchemaOf<Fact> = { one: { id: text }, two: {} };
  // @ts-expect-error a member is not of its type
  const ofAnotherType: SchemaOf<Fact> = { one: { id: integer, more: optional(text) }, two: {} };
  // @ts-expect-error a word is missing
  const withoutWord: SchemaOf<{ readonly kind: 'k'; readonly a: 'x' | 'y' }> = { k: { a: word(['x']) } };
  const unwanted = [withoutKind, withoutMember, withoutOptional, ofAnotherType, withoutWord];
  expect([whole, ...unwanted]).toHaveLength(6);
});
