/** A history made by hand, and whether it is linearizable. */
export interface MadeHistory {
  readonly name: string;
  readonly isRight: boolean;
  /** Each call: from, until, what was asked, and the answer. */
  readonly calls: readonly (readonly [from: number, until: number, asked: object, answer: object])[];
}

const charge = (cost: number) => ({ model: 'budget', do: 'charge', tiers: { '*': 100 }, cost });
const adjust = (cost: number) => ({ model: 'budget', do: 'adjust', tiers: { '*': 100 }, cost });
const refused = { ok: false, refusedBy: '*' };
const key = (what: string) => ({ model: 'key', do: what, key: 'k' });
const move = (from: string, to: string) => ({ model: 'op', do: 'move', op: 'o', from, to });
const answer = { model: 'op', do: 'answer', op: 'o' };

/** What the tool must tell apart. */
export const madeHistories: readonly MadeHistory[] = [
  {
    name: 'a charge that does not fit is made',
    isRight: false,
    calls: [
      [1, 2, charge(60), { ok: true }],
      [3, 4, charge(60), { ok: true }],
    ],
  },
  {
    name: 'a charge that fits all the time is refused',
    isRight: false,
    calls: [
      [1, 2, charge(60), { ok: true }],
      [3, 4, charge(40), refused],
      [5, 6, charge(60), refused],
    ],
  },
  {
    name: 'a charge fits after a release that was under way',
    isRight: true,
    calls: [
      [1, 2, charge(60), { ok: true }],
      [3, 6, charge(60), { ok: true }],
      [4, 5, adjust(-60), {}],
    ],
  },
  {
    name: 'a key is used after its revocation was acknowledged',
    isRight: false,
    calls: [
      [1, 2, key('create'), { ok: true }],
      [3, 4, key('revoke'), { ok: true }],
      [5, 6, key('use'), { ok: true }],
    ],
  },
  {
    name: 'a key is used while it is revoked',
    isRight: true,
    calls: [
      [1, 2, key('create'), { ok: true }],
      [3, 6, key('revoke'), { ok: true }],
      [4, 5, key('use'), { ok: true }],
      [7, 8, key('use'), { ok: false }],
    ],
  },
  {
    name: 'an operation is allowed after it has ended',
    isRight: false,
    calls: [
      [1, 2, move('any', 'running'), {}],
      [3, 4, move('running', 'completing'), {}],
      [5, 6, answer, { states: ['running'] }],
    ],
  },
  {
    name: 'an operation moves from a state that it is not in',
    isRight: false,
    calls: [
      [1, 2, move('any', 'running'), {}],
      [3, 4, move('paused', 'running'), {}],
    ],
  },
];

export function linesOf({ calls }: MadeHistory): readonly string[] {
  return calls.flatMap(
    ([from, until, { model, ...input }, output]: readonly [number, number, { model?: string }, object], id) => [
      JSON.stringify({ type: 'invoke', id, time: from, model, input }),
      JSON.stringify({ type: 'return', id, time: until, output }),
    ],
  );
}
