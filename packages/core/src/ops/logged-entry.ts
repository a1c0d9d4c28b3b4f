import type { ActionType, Via } from '../action/index.ts';
import { actionTypes } from '../action/index.ts';
import type { OpState } from './op.ts';

/** What stands before the payload of an entry. */
export interface EntryHead {
  readonly type: string;
  /** As the log writes it. */
  readonly lineage: string;
  readonly opId: string | null;
  /** Where the payload's key begins, with its comma; -1 if nobody looked. */
  readonly payloadAt: number;
}

/** The lineage of an entry, as far as it names the agent. */
export interface LoggedLineage {
  readonly org_id: string | null;
  readonly team_id: string;
  readonly agent_id: string;
}

/** The members of an entry that describe an operation. */
export interface LoggedEntry {
  readonly at: string;
  readonly op_id: string;
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

const lineageKey = ',"lineage":{';
const opIdKey = ',"op_id":';
const typeKey = ',"event_type":"';

/**
 * Finds what an entry is about without parsing it, because most entries of a replay need no more. Members are sorted, and
 * no text can pass for a key: its quotes are escaped. The texts are cut out of the entry, so whoever keeps them keeps it.
 */
export function headOf(canonical: string): EntryHead {
  const lineageAt = canonical.indexOf(lineageKey);
  const opIdAt = lineageAt < 0 ? -1 : canonical.indexOf(opIdKey, lineageAt);
  const typeAt = canonical.indexOf(typeKey);
  const from = opIdAt + opIdKey.length;
  const isNull = canonical.startsWith('null', from);
  const end = isNull ? from + 4 : canonical.indexOf('"', from + 1) + 1;
  const opId = canonical.slice(from + 1, end - 1);
  if (opIdAt < 0 || typeAt < 0 || (!isNull && opId.includes('\\'))) return parsedHead(canonical);
  return {
    type: canonical.slice(typeAt + typeKey.length, lineageAt - 1),
    lineage: canonical.slice(lineageAt + lineageKey.length - 1, opIdAt),
    opId: isNull ? null : opId,
    payloadAt: end,
  };
}

function parsedHead(canonical: string): EntryHead {
  const parsed = JSON.parse(canonical) as { event_type: string; lineage: LoggedLineage; op_id: string | null };
  return { type: parsed.event_type, lineage: JSON.stringify(parsed.lineage), opId: parsed.op_id, payloadAt: -1 };
}

const payloadKey = ',"payload":{"action":{';
const atKey = ',"at":"';

/** Reads an entry about an operation. What was asked for is its longest part by far, and only the type of it is needed. */
export function readEntry(canonical: string, { opId, payloadAt }: EntryHead): LoggedEntry {
  const hasAction = payloadAt >= 0 && canonical.startsWith(payloadKey, payloadAt);
  const end = hasAction ? endOfObject(canonical, payloadAt + payloadKey.length - 1) : -1;
  const type = end < 0 ? undefined : typeAtEnd(canonical, end);
  // An action that ends in another member, and a payload of nothing else, are rare.
  if (type === undefined || canonical.charAt(end) !== ',') return parsedEntry(canonical);
  const at = canonical.indexOf(atKey) + atKey.length;
  const rest = JSON.parse(`{"op_id":"${opId}","payload":{${canonical.slice(end + 1)}`) as LoggedEntry;
  const { op_id, policy_rule, reason, payload } = rest;
  return { at: canonical.slice(at, canonical.indexOf('"', at)), op_id, policy_rule, reason, actionType: type, payload };
}

function parsedEntry(canonical: string): LoggedEntry {
  const entry = JSON.parse(canonical) as LoggedEntry & { payload: { action?: { type: ActionType } } };
  return { ...entry, actionType: entry.payload.action?.type ?? null };
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
