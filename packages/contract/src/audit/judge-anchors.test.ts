import { describe, expect, test } from 'vitest';
import type { AcceptedLoss, Anchor } from './anchor.ts';
import { anchoredText, anchorLine, anchorOf, lossOf, requiredAnchors } from './anchor.ts';
import { judgeAnchors } from './judge-anchors.ts';
import type { Verdict } from './judge-log.ts';

const anchor = (seq: number, hash = `h${seq}`): Anchor => ({
  seq,
  hash,
  at: `2026-01-01T00:00:0${seq % 10}.000Z`,
  kid: 'k',
  signature: 's',
});

/** Judges a log with entries from `first` to `last`, each with the hash of its anchor. */
function judged(anchors: readonly Anchor[], first: number, last: number, losses: AcceptedLoss[] = []) {
  const place = (seq: number) => ({ seq, hash: `h${seq}`, prevHash: `h${seq - 1}` });
  const verdict: Verdict = {
    result: 'unbroken',
    entries: last - first + 1,
    first_seq: first,
    last_seq: last,
    last_hash: `h${last}`,
    cut_at: null,
    broken_seq: null,
    why: null,
  };
  return judgeAnchors(verdict, anchors, {
    first: place(first),
    last: place(last),
    losses,
    hashOf: (seq) => (seq >= first && seq <= last ? `h${seq}` : undefined),
  });
}

describe('a line', () => {
  test('is read as it was written', () => {
    const line = anchorLine(anchor(7));
    expect(line.endsWith('\n')).toBe(true);
    expect(anchorOf(line.trimEnd())).toEqual(anchor(7));
    expect(anchoredText(anchor(7))).toBe('{"at":"2026-01-01T00:00:07.000Z","hash":"h7","kid":"k","seq":7}');
  });

  test('that a kill has torn is known as such wherever it was torn', () => {
    const line = anchorLine(anchor(7)).trimEnd();
    for (let length = 1; length < line.length; length++)
      expect(anchorOf(line.slice(0, length)), `${length}`).toBe('torn');
  });

  test.each(['x', '1', 'null', '[]', '{}', '{"seq":1}', `${anchorLine(anchor(7)).trimEnd()}x`, '{"seq":1}}'])(
    '%s is no anchor',
    (line) => {
      expect(anchorOf(line)).toBeUndefined();
    },
  );

  test('with another member, or one of another kind, is no anchor', () => {
    for (const change of [{ extra: 1 }, { seq: 1.5 }, { seq: '7' }, { hash: 1 }, { kid: null }, { signature: {} }]) {
      expect(anchorOf(JSON.stringify({ ...anchor(7), ...change })), JSON.stringify(change)).toBeUndefined();
    }
  });
});

describe('a log that is held against its anchors', () => {
  test('contains them', () => {
    expect(judged([anchor(3), anchor(8)], 1, 10)).toMatchObject({
      result: 'unbroken',
      anchors: { lines: 2, newest_seq: 8, accepted_lost: 0 },
    });
    expect(judged([], 1, 10)).toMatchObject({ result: 'unbroken', anchors: { lines: 0, newest_seq: null } });
  });

  test('that ends before the newest is broken', () => {
    const verdict = judged([anchor(3), anchor(8)], 1, 7);
    expect(verdict).toMatchObject({ result: 'broken', broken_seq: null });
    expect(verdict.why).toMatch(
      /entry 8 was anchored at .*, and the log ends with entry 7: its newest entries are missing/,
    );
  });

  test('with another entry in the place of one is broken there', () => {
    expect(judged([anchor(3), anchor(5, 'other'), anchor(8, 'other')], 1, 10)).toMatchObject({
      result: 'broken',
      broken_seq: 5,
    });
  });

  test('that retention has cut need not contain what went, but must link to it', () => {
    expect(judged([anchor(1), anchor(3), anchor(8)], 6, 10)).toMatchObject({ result: 'unbroken' });
    expect(judged([anchor(1), anchor(3)], 6, 10)).toMatchObject({ result: 'unbroken' });
    expect(judged([anchor(5)], 6, 10)).toMatchObject({ result: 'unbroken' });
    expect(judged([anchor(5, 'other')], 6, 10)).toMatchObject({ result: 'broken', broken_seq: 5 });
  });

  test('without an entry is broken', () => {
    const empty = { result: 'unbroken', entries: 0, first_seq: null, last_seq: null, last_hash: null } as const;
    const verdict = { ...empty, cut_at: null, broken_seq: null, why: null };
    const log = { first: undefined, last: undefined, losses: [], hashOf: () => undefined };
    expect(judgeAnchors(verdict, [anchor(1)], log)).toMatchObject({ result: 'broken' });
    expect(judgeAnchors(verdict, [], log)).toMatchObject({ result: 'unbroken' });
  });
});

describe('a loss that was accepted', () => {
  const loss = { anchoredSeq: 8, anchoredHash: 'h8', keptSeq: 4 };

  test('is read from its entry', () => {
    const payload = { anchored_seq: 8, anchored_hash: 'h8', kept_seq: 4, more: 1 };
    expect(lossOf({ event_type: 'AuditEntriesLost', payload })).toEqual(loss);
    expect(lossOf({ event_type: 'AuditLogCut', payload })).toBeUndefined();
    expect(lossOf({ event_type: 'AuditEntriesLost', payload: { anchored_seq: 8 } })).toBeUndefined();
  });

  test('covers what was anchored by then, and nothing else', () => {
    const anchors = [anchor(3), anchor(6), anchor(8), anchor(5), anchor(7, 'new')];
    expect(requiredAnchors(anchors, [loss])).toEqual([anchor(3), anchor(5), anchor(7, 'new')]);
    expect(requiredAnchors(anchors, [])).toEqual(anchors);
    expect(requiredAnchors(anchors, [{ ...loss, anchoredHash: 'x' }])).toEqual(anchors);
  });

  test('lets the rest be in order, and is counted', () => {
    expect(judged([anchor(3), anchor(12), anchor(5)], 1, 10)).toMatchObject({ result: 'broken' });
    const accepted = { anchoredSeq: 12, anchoredHash: 'h12', keptSeq: 4 };
    expect(judged([anchor(3), anchor(12), anchor(5)], 1, 10, [accepted])).toMatchObject({
      result: 'unbroken',
      anchors: { accepted_lost: 1 },
    });
    expect(judged([anchor(12), anchor(11)], 1, 10, [accepted])).toMatchObject({ result: 'broken' });
  });
});
