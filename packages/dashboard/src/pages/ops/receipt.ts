import { formatDuration } from '../../api/format.ts';
import type { Control, ControlAction } from './op.ts';

/** Settled statuses rank highest. Statuses that an agent may still change rank lower. */
const rank: Readonly<Record<Control['status'], number>> = {
  requested: 0,
  delivered: 1,
  unconfirmed: 2,
  acked: 3,
  failed: 4,
  effective: 5,
};

/** Merges a newer report of a receipt. The same receipt never goes back. */
export function laterControl(known: Control | null, told: Control | null): Control | null {
  if (known === null || told === null || known.id !== told.id) return told;
  return rank[told.status] >= rank[known.status] ? told : known;
}

/** Whether the receipt may change at any moment. No event reports that. */
export function isUnderWay({ status }: Control): boolean {
  return status === 'requested' || status === 'delivered' || status === 'acked';
}

const doing: Readonly<Record<ControlAction, string>> = { pause: 'Pause', resume: 'Resume', terminate: 'Terminate' };
const done: Readonly<Record<ControlAction, string>> = {
  pause: 'stands still',
  resume: 'goes on',
  terminate: 'has stopped',
};

export function nameOf(action: ControlAction): string {
  return doing[action];
}

/** The status of a receipt, in plain words. */
export function explainReceipt({ status, action, detail, evidence, processes }: Control): string {
  const said = detail === '' ? '' : ` It says: ${detail}`;
  switch (status) {
    case 'requested':
      return 'The gateway has changed the state. The agent has not been reached yet.';
    case 'delivered':
      return 'Written to the agent’s control stream. The agent has not answered yet.';
    case 'acked':
      return `The agent has heard it, and has not reached the point yet where the work ${done[action]}.${said}`;
    case 'effective':
      return evidence === 'kernel'
        ? `The kernel confirms that the work ${done[action]} (processes: ${processes}).`
        : `The agent confirms that the work ${done[action]}.${said}`;
    case 'failed':
      return `The agent says that it could not.${said} The work may be going on.`;
    case 'unconfirmed':
      return `The agent has not confirmed in time${detail === '' ? '' : ` (${detail})`}. Nobody knows whether the work ${done[action]}.`;
  }
}

export interface Step {
  readonly name: string;
  /** The time of the step. Null if it has not happened, or is not known. */
  readonly at: string | null;
  readonly state: 'done' | 'waiting' | 'failed' | 'ahead';
}

/** The steps of a receipt from requested to effective. A step counts as done only with its own time. */
export function stepsOf(control: Control): readonly Step[] {
  const { requested_at, delivered_at, acked_at, effective_at, status } = control;
  const times = [requested_at, delivered_at, acked_at, effective_at];
  const names = ['Requested', 'Delivered', 'Acknowledged', 'Effective'];
  const last = times.findLastIndex((at) => at !== null);
  const isStuck = status === 'failed' || status === 'unconfirmed';
  return names.map((name, index) => {
    const at = times[index] ?? null;
    if (at !== null) return { name, at, state: 'done' };
    // An agent may answer one step and thereby skip the one before.
    if (index <= last) return { name, at, state: 'done' };
    if (index === last + 1) return { name, at, state: isStuck ? 'failed' : 'waiting' };
    return { name, at, state: 'ahead' };
  });
}

/** From requested to effective. If it failed or is unconfirmed, the time runs on. */
export function elapsedMs({ requested_at, effective_at }: Control, now: number): number {
  const end = effective_at === null ? now : Date.parse(effective_at);
  return Math.max(0, end - Date.parse(requested_at));
}

/** A measured time: `18 ms`, `4.2 s`. */
export function formatElapsed(ms: number): string {
  return ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : formatDuration(ms);
}
