/** The states and moves of an operation, read beside the specification's table. */
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

/** Where a trigger leads, or undefined where the table has no such move. */
export function nextState(from: OpState, trigger: OpTrigger): OpState | undefined {
  return moves[from][trigger];
}

export function allowedTriggers(from: OpState): readonly OpTrigger[] {
  return Object.keys(moves[from]) as OpTrigger[];
}

/** Over: only the sweep follows. */
export function isOver(state: OpState): boolean {
  return state === 'completing' || state === 'terminated';
}
