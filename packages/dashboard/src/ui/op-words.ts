import { opStates } from '@reeve/contract/names';
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

/** A state by its name, of which more is not known. Why an operation ended stands beside it. */
export function stateWord(name: string): string {
  const state = opStates.find((each) => each === name);
  if (state === undefined) return name;
  return state === 'terminated' ? 'Ended' : opStateWords[state][0];
}

/** What the gateway says of what neither a decision nor an operator has ended. There is no code for it on the wire. */
const endings: ReadonlyMap<string, readonly [label: string, tone: Tone]> = new Map([
  ['approval expired', ['Expired', 'neutral']],
  ['called off by its agent', ['Called off', 'neutral']],
  ['agent deregistered', ['Agent left', 'neutral']],
]);

/** The state of an operation as screens say it: Finished, Denied, Stopped by somebody. */
export function opWords({
  state,
  control,
  action_type: action,
  reason,
}: Pick<Op, 'state' | 'control' | 'action_type' | 'reason'>): readonly [label: string, tone: Tone] {
  if (state !== 'terminated') return opStateWords[state];
  if (control?.action === 'terminate') return [`Stopped by ${control.actor.label}`, 'neutral'];
  const ending = endings.get(reason);
  if (ending !== undefined) return ending;
  if (action === null) return ['Never checked', 'neutral'];
  return reason.startsWith('rejected by ') ? ['Rejected', 'danger'] : ['Denied', 'danger'];
}
