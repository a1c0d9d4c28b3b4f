import { describe, expect, test } from 'vitest';
import type { Op } from './op.ts';
import { keyOf } from './op.ts';
import { endedMs, OpsBoard } from './ops-board.ts';
import { anOp, at } from './testkit.ts';

function boardOf(...ops: readonly Op[]): OpsBoard {
  const board = new OpsBoard((draw) => draw());
  for (const op of ops) board.tell(op, 0);
  return board;
}

const envelope = { agent_id: 'bot', org_id: 'acme', team_id: 'core', timestamp: at(0) };

function changed(id: number, op: Op) {
  const { op_id, state, updated_at } = op;
  return { ...envelope, id, event_type: 'ops_change', payload: { op_id, state, updated_at, op } } as const;
}

function alerted(id: number, alert: 'op_stale' | 'op_back', op_id: string) {
  return { ...envelope, id, event_type: 'audit_alert', payload: { alert, op_id } } as const;
}

const states = (board: OpsBoard) => [...board.rows.values()].map(({ op }) => `${op.op_id} ${op.state}`);

describe('the board', () => {
  test('keeps operations with the same id of two agents apart', () => {
    const agent = { org_id: '', team_id: '', agent_id: 'other' };
    const board = boardOf(anOp({ op_id: 'a:b' }), anOp({ op_id: 'a:b', agent }));
    expect([...board.rows.keys()]).toEqual(['acme/core/bot/a:b', '-/-/other/a:b']);
  });

  test('shows what the last event said, also where it came while the list was being read', () => {
    const board = boardOf();
    board.startReading();
    board.events([changed(5, anOp({ op_id: 'a:b', state: 'paused', updated_at: at(5) }))], 1);
    board.tell(anOp({ op_id: 'a:b', state: 'running', updated_at: at(2) }), 1);
    board.finishReading(1);
    expect(states(board)).toEqual(['a:b paused']);
  });

  test('lets go of what a second reading does not know, and keeps what an event told of meanwhile', () => {
    const board = boardOf(anOp({ op_id: 'old:1' }), anOp({ op_id: 'kept:1' }));
    board.startReading();
    board.events([changed(9, anOp({ op_id: 'new:1' }))], 1);
    board.tell(anOp({ op_id: 'kept:1' }), 1);
    board.finishReading(1);
    expect(states(board)).toEqual(['kept:1 running', 'new:1 running']);
  });

  test('keeps what ended for a while', () => {
    const board = boardOf(anOp({ op_id: 'a:b' }));
    board.events([changed(1, anOp({ op_id: 'a:b', state: 'completing', updated_at: at(1) }))], 1000);
    board.tick(1000 + endedMs - 1);
    expect(states(board)).toEqual(['a:b completing']);
    board.tick(1000 + endedMs);
    expect(board.size).toBe(0);
  });

  test('keeps the rows of a list that stands still, and says what became of them', () => {
    const op = anOp({ op_id: 'a:b' });
    const board = boardOf(op, anOp({ op_id: 'c:d' }));
    board.keep([keyOf(op), 'acme/core/bot/c:d']);
    board.events([changed(1, anOp({ op_id: 'a:b', state: 'terminated', updated_at: at(1) }))], 0);
    board.tick(endedMs * 2);
    board.startReading();
    board.finishReading(endedMs * 2);
    expect(states(board)).toEqual(['a:b terminated', 'c:d running']);
    expect(board.rows.get('acme/core/bot/c:d')?.isGone).toBe(true);
    board.keep([]);
    board.prune(endedMs * 2);
    expect(board.size).toBe(0);
  });

  test('marks what nobody has heard of, until it is heard of again', () => {
    const board = boardOf(anOp({ op_id: 'a:b' }));
    board.events([alerted(1, 'op_stale', 'a:b'), alerted(2, 'op_stale', 'unknown:1')], 0);
    expect(board.rows.get('acme/core/bot/a:b')?.op.stale).toBe(true);
    board.events([alerted(3, 'op_back', 'a:b')], 0);
    expect(board.rows.get('acme/core/bot/a:b')?.op.stale).toBe(false);
  });

  test('draws once for all that comes between two frames', () => {
    const frames: (() => void)[] = [];
    const board = new OpsBoard((draw) => frames.push(draw));
    for (let nth = 0; nth < 500; nth++) board.tell(anOp({ op_id: `a:${nth}` }), 0);
    expect(frames).toHaveLength(1);
    frames[0]?.();
    expect(board.drawn.value.size).toBe(500);
    board.tell(anOp({ op_id: 'a:1', state: 'paused', updated_at: at(1) }), 0);
    expect(frames).toHaveLength(2);
  });
});
