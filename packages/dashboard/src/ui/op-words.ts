import type { Answer } from '../api/send.ts';
import type { Tone } from './tone.ts';

type Op = Answer<'getOp'>;

/** The gateway's states in the words of people. Of a state alone it is not known who ended what is terminated. */
export const opStateWords: Readonly<Record<Op['state'], readonly [label: string, tone: Tone]>> = {
  pending: ['Pending', 'warn'],
  running: ['Running', 'accent'],
  paused: ['Paused', 'info'],
  completing: ['Finished', 'ok'],
  terminated: ['Denied or stopped', 'neutral'],
};

/** How the reason begins of what neither a decision nor an operator has ended. */
const endings: readonly (readonly [reason: string, label: string, tone: Tone])[] = [
  ['rejected by ', 'Rejected', 'danger'],
  ['approval expired', 'Expired', 'neutral'],
  ['called off by its agent', 'Called off', 'neutral'],
  ['agent deregistered', 'Agent left', 'neutral'],
  ['registered, and not checked', 'Never checked', 'neutral'],
];

/** The state of an operation as screens say it: Finished, Denied, Stopped by somebody. */
export function opWords({
  state,
  control,
  reason,
}: Pick<Op, 'state' | 'control' | 'reason'>): readonly [label: string, tone: Tone] {
  if (state !== 'terminated') return opStateWords[state];
  if (control?.action === 'terminate') return [`Stopped by ${control.actor.label}`, 'neutral'];
  const ending = endings.find(([begin]) => reason.startsWith(begin));
  return ending === undefined ? ['Denied', 'danger'] : [ending[1], ending[2]];
}
