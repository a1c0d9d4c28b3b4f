import { isObject } from '../../is-object.ts';
import type { EventObject } from '../event-members.ts';
import { optionalText } from '../event-members.ts';
import type { ResultControl } from '../hook-host.ts';
import { hasSameShape } from './same-shape.ts';

/**
 * Claude Code shows its model another output, if that has the form which the tool gives it; otherwise it shows the first
 * one. It shows the error of a tool that has failed in any case, unless the turn ends before.
 */
export const claudeResults: ResultControl = {
  replace: (event, value) => {
    if (event['hook_event_name'] !== 'PostToolUse') return undefined;
    if (isMcp(event)) return replaced({ updatedToolOutput: value, updatedMCPToolOutput: value });
    return hasSameShape(event['tool_response'], value) ? replaced({ updatedToolOutput: inPlace(value) }) : undefined;
  },
  withhold: (event, reason) => {
    if (event['hook_event_name'] !== 'PostToolUse') return { answer: {}, isCertain: false };
    const tool = optionalText(event, 'tool_name') ?? '';
    const output = isMcp(event) ? [{ type: 'text', text: reason }] : emptied(tool, event['tool_response'], reason);
    const outputs = { updatedToolOutput: output, ...(isMcp(event) ? { updatedMCPToolOutput: output } : {}) };
    return {
      answer: replaced({ ...outputs, additionalContext: reason }),
      isCertain: isMcp(event) || knownForms.has(tool),
    };
  },
  stop: (event, reason) =>
    event['hook_event_name'] === 'UserPromptSubmit'
      ? { decision: 'block', reason }
      : { continue: false, stopReason: reason },
};

/** Tools whose output is known to be taken without what it held. */
const knownForms = new Set(['Bash', 'Read', 'Grep', 'Glob', 'WebFetch']);

function replaced(members: object): object {
  return { hookSpecificOutput: { hookEventName: 'PostToolUse', ...members } };
}

function isMcp(event: EventObject): boolean {
  return (optionalText(event, 'tool_name') ?? '').startsWith('mcp__');
}

/** A long output is shown from the file that holds all of it, unless the output names none. */
function inPlace(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { persistedOutputPath: _path, persistedOutputSize: _size, rawOutputPath: _raw, ...rest } = value;
  return rest;
}

/** Members that hold what a model reads first. */
const texts = new Set(['content', 'stdout', 'text', 'result', 'output']);
/** Members that say which form it is. */
const forms = new Set(['type', 'mode']);

/** An output of the same form that holds nothing but the reason. */
function emptied(tool: string, output: unknown, reason: string): unknown {
  if (tool === 'Read')
    return { type: 'text', file: { filePath: '', content: reason, numLines: 1, startLine: 1, totalLines: 1 } };
  if (typeof output === 'string') return reason;
  if (Array.isArray(output)) return [{ type: 'text', text: reason }];
  return isObject(output) ? emptiedMembers(inPlace(output) as EventObject, reason) : output;
}

function emptiedMembers(members: EventObject, reason: string): EventObject {
  const entries = Object.entries(members).map(([name, value]) => [name, emptiedMember(name, value, reason)] as const);
  return Object.fromEntries(entries);
}

function emptiedMember(name: string, value: unknown, reason: string): unknown {
  if (typeof value === 'string') return forms.has(name) ? value : texts.has(name) ? reason : '';
  if (typeof value === 'number') return 0;
  if (Array.isArray(value)) return [];
  return isObject(value) ? emptiedMembers(value, reason) : value;
}
