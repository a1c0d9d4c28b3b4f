import { randomBytes } from 'node:crypto';
import type { AgentId } from '@reeve/contract';
import { ActionType, BatchCheckRequest, CheckActionRequest, CompleteActionRequest } from '@reeve/contract';
import { framedMessage } from './http2-frames.ts';
import type { SmallCheck } from './load-protocol.ts';

/**
 * A message that is encoded once and sent many times. Before each sending, the hexadecimal digits at `places` are
 * overwritten, which makes each request a new operation.
 */
export interface Template {
  readonly framed: Buffer;
  readonly places: readonly number[];
}

export interface Credential {
  readonly id: AgentId;
  readonly token: string;
}

export const allowedTool = 'search.web';
export const deniedTool = 'shell.exec';
const heldTool = 'search.deep';

const digits = 12;
const traceStart = randomBytes(10).toString('hex');
const blankTrace = traceStart + 'f'.repeat(digits);
const span = randomBytes(8).toString('hex');

/** A tool call of a typical size, about 400 bytes. */
function checkRequest(agent: Credential, toolName: string, subjectToken?: string): CheckActionRequest {
  const args = { query: 'quarterly revenue of the five largest suppliers', limit: 20, language: 'en', safe: true };
  const argsJson = Buffer.from(JSON.stringify(args));
  const toolCall = { toolName, toolSource: 'mcp/search', argsJson, targetUrl: '' };
  return {
    agentId: agent.id,
    credentialToken: agent.token,
    traceId: blankTrace,
    spanId: span,
    actionType: ActionType.TOOL_CALL,
    context: { action: { $case: 'toolCall', value: toolCall } },
    callerAgentId: undefined,
    estimatedCostMicros: 1500,
    runId: 'run-2417',
    summary: 'Look up supplier figures for the quarterly report',
    subjectToken,
    canRewrite: false,
  };
}

export function checkTemplate(agent: Credential, tool: string, subjectToken?: string): Template {
  return template(CheckActionRequest.encode(checkRequest(agent, tool, subjectToken)).finish());
}

const smallArgs: Readonly<Record<SmallCheck, object>> = {
  plain: { limit: 20 },
  small: { limit: 20, safe: true, language: 'en' },
  large: { limit: 500, safe: true, language: 'en' },
  deep: { limit: 20, safe: true, language: 'en' },
};

/** The least that an agent with a tool of few arguments says, about 200 bytes. */
export function smallCheckTemplate(agent: Credential, check: SmallCheck): Template {
  const toolName = check === 'deep' ? heldTool : allowedTool;
  const argsJson = Buffer.from(JSON.stringify(smallArgs[check]));
  return template(
    CheckActionRequest.encode({
      ...checkRequest(agent, toolName),
      context: { action: { $case: 'toolCall', value: { toolName, toolSource: '', argsJson, targetUrl: '' } } },
      runId: '',
      summary: '',
    }).finish(),
  );
}

export function batchTemplate(entries: readonly { readonly agent: Credential; readonly tool: string }[]): Template {
  const requests = entries.map(({ agent, tool }) => checkRequest(agent, tool));
  return template(BatchCheckRequest.encode({ requests }).finish());
}

export function completeTemplate(agent: Credential): Template {
  const request: CompleteActionRequest = {
    agentId: agent.id,
    credentialToken: agent.token,
    opId: `${blankTrace}:${span}`,
    actualCostMicros: 1200,
    outcome: 1,
    detail: '',
  };
  return template(CompleteActionRequest.encode(request).finish());
}

/** The message of operations `first`, `first + 1`, and so on, one per place. Valid until the next call. */
export function filled(from: Template, first: number): Buffer {
  let number = first;
  for (const place of from.places) writeHex(from.framed, place, number++);
  return from.framed;
}

function template(message: Uint8Array): Template {
  const framed = framedMessage(message);
  const places: number[] = [];
  for (let at = framed.indexOf(blankTrace); at >= 0; at = framed.indexOf(blankTrace, at + 1)) {
    places.push(at + traceStart.length);
  }
  return { framed, places };
}

function writeHex(out: Buffer, at: number, value: number): void {
  let rest = value;
  for (let place = at + digits - 1; place >= at; place--) {
    const digit = rest % 16;
    out[place] = digit < 10 ? 48 + digit : 87 + digit;
    rest = (rest - digit) / 16;
  }
}
