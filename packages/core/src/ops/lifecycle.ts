import { ReeveError } from '../kernel/index.ts';

/** The states and moves of an operation. Read them beside the specification's table. */
export type OpState = 'pending' | 'running' | 'paused' | 'completing' | 'terminated';
export type OpTrigger = 'allow' | 'pause' | 'resume' | 'complete' | 'terminate';

export const lifecycle = {
  pending: { allow: 'running', terminate: 'terminated' },
  running: { pause: 'paused', complete: 'completing', terminate: 'terminated' },
  paused: { resume: 'running', terminate: 'terminated' },
  completing: {},
  terminated: { terminate: 'terminated' },
} as const satisfies Record<OpState, Partial<Record<OpTrigger, OpState>>>;

export const opStates = Object.keys(lifecycle) as readonly OpState[];

const moves: Readonly<Record<OpState, Partial<Record<OpTrigger, OpState>>>> = lifecycle;

/** Where a trigger leads; undefined if the table has no such move. */
export function nextState(from: OpState, trigger: OpTrigger): OpState | undefined {
  return moves[from][trigger];
}

export function allowedTriggers(from: OpState): readonly OpTrigger[] {
  return Object.keys(moves[from]) as OpTrigger[];
}

/** The table has no such move. */
export function refuseMove(from: OpState, trigger: OpTrigger): never {
  const allowed = allowedTriggers(from);
  const remedy = allowed.length === 0 ? 'nothing more is allowed' : `allowed: ${allowed.join(', ')}`;
  throw new ReeveError('invalid_transition', `cannot ${trigger} an operation that is ${from}; ${remedy}`, {
    state: from,
    allowed,
  });
}

/** Nothing follows but the sweep. */
export function isOver(state: OpState): boolean {
  return state === 'completing' || state === 'terminated';
}
