import { redactArguments, redactText } from '../audit/redact.ts';
import type { Action } from '../action/action.ts';
import { subjectOf } from '../policy/subject.ts';

/**
 * The text whose digest a grant is compared by: all of an action but what it is called with and how many tokens it
 * takes. So a grant to read a file covers no deletion of it, and a command is covered with its arguments. It is the
 * text as it came: another spelling is asked about again.
 */
export function coverOf(action: Action): string {
  return JSON.stringify([
    action.type,
    action.tool,
    action.source,
    action.model,
    action.operation,
    action.path,
    action.host,
    action.port,
    action.protocol,
    action.command,
    action.commandArgs,
    placeOf(action),
  ]);
}

/** Where a tool reaches. The rest of its URL is like an argument. */
function placeOf(action: Action): string {
  return action.url === '' ? '' : (subjectOf(action).host ?? action.url);
}

/** What a grant covers, for people, with secrets replaced. */
export function coverWords(action: Action): string {
  switch (action.type) {
    case 'tool_call':
    case 'tool_result':
      return redactText(`${action.tool}${behind(' of ', action.source)}${behind(' at ', placeOf(action))}`);
    case 'file_operation':
      return redactText(`${action.operation} ${action.path}`.trim());
    case 'network_call':
      return redactText(`${action.protocol} ${action.host}${behind(':', action.port)}`.trim());
    case 'process_exec':
    case 'agent_spawn':
      return [redactText(action.command), ...redactArguments(action.commandArgs, action.command)].join(' ');
    case 'llm_call':
      return redactText(action.model);
  }
}

function behind(lead: string, what: string | number): string {
  return what === '' || what === 0 ? '' : `${lead}${what}`;
}
