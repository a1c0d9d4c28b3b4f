import { opWords } from '../../ui/op-words.ts';
import type { ControlAction, Op } from './op.ts';
import type { Notice, Row } from './row-model.ts';

const refusedWord: Readonly<Record<ControlAction, string>> = {
  pause: 'Not paused',
  resume: 'Not resumed',
  terminate: 'Not stopped',
};

/** The outcome of a request in words: what happened instead, by whom, and what is possible now. */
export function noticeText(notice: Notice, { op }: Pick<Row, 'op'>): string {
  const instead = whatHappened(op);
  switch (notice.kind) {
    case 'overtaken':
      return notice.action === 'terminate' && notice.by === 'terminated'
        ? `It was ${instead} before.`
        : `${refusedWord[notice.action]}: it was ${instead}.`;
    case 'refused': {
      if (notice.code === 'invalid_transition')
        return `${refusedWord[notice.action]}: it was ${instead}. ${wayOut(notice.allowed)}`;
      if (notice.code === 'op_not_found')
        return `${refusedWord[notice.action]}: it has ended, and the gateway has let go of it.`;
      return `${refusedWord[notice.action]}: ${notice.detail}.`;
    }
    case 'late':
      return `${refusedWord[notice.action]} yet: the gateway has not confirmed in time. What you see is its last word.`;
    case 'unanswered':
      return `Unknown whether it was heard: ${notice.detail} What you see is the gateway’s last word.`;
  }
}

/** How an operation came into its state: "stopped by Bo (runaway bill)". */
export function whatHappened(op: Op): string {
  const { state, control, actor } = op;
  const words = {
    pending: 'left pending',
    running: 'resumed',
    paused: 'paused',
    terminated: 'stopped',
    completing: 'finished',
  };
  if (state === 'completing') return 'finished by its agent';
  const who = control?.actor ?? actor;
  if (state === 'terminated' && control?.action !== 'terminate') return opWords(op)[0].toLowerCase();
  if (who === null) return state === 'running' ? 'still running' : words[state];
  const why = control === null || control.reason === '' ? '' : ` (${control.reason})`;
  return `${words[state]} by ${who.label}${why}`;
}

function wayOut(allowed: readonly string[]): string {
  const names = allowed.filter((name) => ['pause', 'resume', 'terminate'].includes(name));
  return names.length === 0 ? 'Nothing more can be done to it.' : `What can be done now: ${names.join(', ')}.`;
}
