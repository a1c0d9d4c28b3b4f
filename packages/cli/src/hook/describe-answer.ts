import type { Decision } from '@reeve/sdk';
import type { PlannedAction } from './hook-event.ts';
import { unreadable } from './shell/shell-action.ts';

/** What the gateway said of one action. */
export interface ActionAnswer {
  readonly planned: PlannedAction;
  readonly span: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly opId: string;
  readonly approvalId: string;
  readonly judgesResult: boolean;
  readonly args: Uint8Array | undefined;
}

const longestSubject = 160;
const mostNamed = 3;

/** Why it is denied, for the model and the person at the host. */
export function deniedText(denied: readonly ActionAnswer[]): string {
  const named = denied.slice(0, mostNamed).map(({ planned, reason, policyRule, opId }) => {
    const details = [policyRule === '' ? '' : `rule ${policyRule}`, opId === '' ? '' : `operation ${opId}`];
    return `${subjectOf(planned)}: ${reason}${inBrackets(details)}`;
  });
  const more = denied.length > mostNamed ? [`and ${denied.length - mostNamed} more`] : [];
  return `Denied by policy: ${[...named, ...more].join('; ')}`;
}

/** The host would show its model what comes back, whatever policy says of it. */
export function unreplaceableText(judged: readonly ActionAnswer[], why: string): string {
  const named = judged.slice(0, mostNamed).map(({ planned, opId }) => `${subjectOf(planned)} (operation ${opId})`);
  return `Denied by policy: what comes back of ${named.join('; ')} must be judged before a model reads it, and ${why}`;
}

/** It waits for a person, and this is how to go on. What an operator has paused has no approval. */
export function heldText(held: readonly ActionAnswer[]): string {
  const named = held
    .slice(0, mostNamed)
    .map((answer) => `${subjectOf(answer.planned)}: ${waitsFor(answer)}`)
    .join('; ');
  const asked = held.find(({ approvalId }) => approvalId !== '');
  if (asked === undefined) {
    return `Held by an operator: ${named}. Nothing was done. Once it is resumed, do exactly the same again in this session.`;
  }
  const how = `Somebody approves it with "reeve approvals approve ${asked.approvalId}" or on the dashboard.`;
  return `Waiting for approval: ${named}. ${how} Nothing was done. Once it is approved, do exactly the same again in this session: it is then allowed, once.`;
}

function waitsFor({ approvalId, reason, opId }: ActionAnswer): string {
  return approvalId === '' ? `${reason} (operation ${opId})` : `approval ${approvalId}`;
}

function inBrackets(details: readonly string[]): string {
  const given = details.filter((detail) => detail !== '');
  return given.length === 0 ? '' : ` (${given.join(', ')})`;
}

function subjectOf({ action, note }: PlannedAction): string {
  switch (action.type) {
    case 'process_exec': {
      if (action.command === unreadable)
        return `part of the command cannot be read (${note ?? 'it is not understood'})`;
      return cut([action.command, ...(action.args ?? [])].join(' '));
    }
    case 'file_operation':
      return cut(`${action.operation} ${action.path}`);
    case 'network_call':
      return cut(`connect to ${action.host}`);
    case undefined:
    case 'tool_call':
      return cut(action.source === undefined ? action.tool : `${action.tool} of ${action.source}`);
  }
}

function cut(text: string): string {
  // Hosts show it on a terminal.
  const line = text.replaceAll(/\s+/g, ' ').replaceAll(/\p{C}/gu, '\ufffd');
  return line.length <= longestSubject ? line : `${line.slice(0, longestSubject)}…`;
}
