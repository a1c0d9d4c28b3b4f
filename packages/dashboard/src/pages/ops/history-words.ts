import type { AuditEventType } from '@reeve/contract/audit';
import { stateWord } from '../../ui/op-words.ts';
import type { Answer } from '../../api/send.ts';
import type { Tone } from '../../ui/tone.ts';

export type Entry = Answer<'listLogs'>['items'][number];

type Title = readonly [words: string, tone: Tone];

const titles: Readonly<Record<string, Title>> = {
  ActionAllowed: ['Allowed', 'ok'],
  ActionDenied: ['Denied', 'danger'],
  ActionPending: ['Held for a person', 'warn'],
  BudgetLimitExceeded: ['Denied by a budget', 'danger'],
  ResultAllowed: ['Result passed on', 'ok'],
  ResultMasked: ['Result masked', 'info'],
  ResultDenied: ['Result withheld', 'danger'],
  PromptAllowed: ['Prompt sent as it was', 'ok'],
  PromptMasked: ['Prompt masked', 'info'],
  PromptDenied: ['Prompt not sent', 'danger'],
  ApprovalRequested: ['Approval asked for', 'warn'],
  ApprovalVerdictGiven: ['A verdict was given', 'info'],
  ApprovalGranted: ['Approved', 'ok'],
  ApprovalRejected: ['Rejected', 'danger'],
  ApprovalExpired: ['Approval expired', 'neutral'],
  ApprovalCancelled: ['Approval not needed any more', 'neutral'],
  OpPauseWidened: ['Pause taken over by a wider credential', 'info'],
  OpControlUnconfirmed: ['The agent did not confirm', 'warn'],
  BudgetReservationReleased: ['Reservation released', 'neutral'],
  BudgetOverrun: ['Cost far more than held back', 'danger'],
} satisfies Partial<Record<AuditEventType, Title>>;

const outcomes: Readonly<Record<string, Title>> = {
  received: ['heard', 'info'],
  effective: ['effective', 'ok'],
  failed: ['failed', 'danger'],
};

/** An audit log entry about an operation, in a few words. */
export function titleOf({ event_type, payload }: Pick<Entry, 'event_type' | 'payload'>): Title {
  const known = titles[event_type];
  if (known !== undefined) return known;
  if (event_type === 'OpStateChanged')
    return [`${stateWord(word(payload['from']))} → ${stateWord(word(payload['to']))}`, 'neutral'];
  if (event_type === 'OpControlRequested') return [`${capital(word(payload['action']))} requested`, 'neutral'];
  if (event_type === 'OpControlAcknowledged') {
    const [words, tone] = outcomes[word(payload['outcome'])] ?? ['answered', 'neutral'];
    return [`${capital(word(payload['action']))} ${words}`, tone];
  }
  return [event_type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' '), 'neutral'];
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : '?';
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Whether an entry is about this agent's operation, rather than another agent's with the same id. */
export function isOfAgent(
  { lineage }: Pick<Entry, 'lineage'>,
  agent: { readonly org_id: string; readonly team_id: string; readonly agent_id: string },
): boolean {
  return (
    (lineage.org_id ?? '') === agent.org_id && lineage.team_id === agent.team_id && lineage.agent_id === agent.agent_id
  );
}
