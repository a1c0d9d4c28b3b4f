import type { ActionType, Via } from '../action/index.ts';
import { actionTypes } from '../action/index.ts';
import type { ReplayedEntry } from '../audit/index.ts';
import type { OpState } from './op.ts';

/** The members of an entry that describe an operation. The texts are copies. */
export interface LoggedEntry {
  readonly op_id: string | null;
  readonly policy_rule: string | null;
  readonly reason: string | null;
  readonly actionType: ActionType | null;
  readonly payload: {
    readonly op_state?: OpState;
    readonly digest?: string;
    readonly cost_micros?: number;
    readonly resource?: string;
    readonly run_id?: string;
    readonly summary?: string;
    readonly via?: Via;
    readonly replay?: boolean;
    /** Null in an operation's first entry: it was registered without a check. */
    readonly from?: OpState | null;
    readonly to?: OpState;
    readonly trigger?: string;
    readonly control_id?: string;
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly cached_input_tokens?: number;
  };
}

const payloadKey = ',"payload":{"action":{';

/** Reads an entry about an operation. What was asked for is its longest part by far, and only the type of it is needed. */
export function readEntry(entry: ReplayedEntry): LoggedEntry {
  const { canonical, opId, payloadAt } = entry;
  const hasAction = payloadAt >= 0 && canonical.startsWith(payloadKey, payloadAt);
  const end = hasAction ? endOfObject(canonical, payloadAt + payloadKey.length - 1) : -1;
  const actionType = end < 0 ? undefined : typeAtEnd(canonical, end);
  // An action that ends in another member, and a payload of nothing else, are rare.
  if (actionType === undefined || canonical.charAt(end) !== ',') return wholeEntry(entry);
  const rest = JSON.parse(`{"op_id":"${opId}","payload":{${canonical.slice(end + 1)}`) as LoggedEntry;
  const { op_id, policy_rule, reason, payload } = rest;
  return { op_id, policy_rule, reason, actionType, payload };
}

function wholeEntry({ body }: ReplayedEntry): LoggedEntry {
  const payload: LoggedEntry['payload'] & { readonly action?: { readonly type: ActionType } } = body.payload;
  const { op_id, policy_rule, reason } = body;
  return { op_id, policy_rule, reason, actionType: payload.action?.type ?? null, payload };
}

/** The type of the action that ends here, if it is the last member. */
function typeAtEnd(json: string, end: number): ActionType | undefined {
  const key = '"type":"';
  const text = json.slice(json.lastIndexOf(key, end) + key.length, end);
  return actionTypes.find((type) => text === `${type}"}`);
}

const [quote, backslash, open, close] = [34, 92, 123, 125];

/** The place behind the object that begins here; -1 if it does not end. */
function endOfObject(json: string, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfText(json, at);
    else if (code === open) depth++;
    else if (code === close && --depth === 0) return at + 1;
  }
  return -1;
}

/** The closing quote of the text that begins here. */
function endOfText(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return json.length;
}
