import { isOver } from '@reeve/contract/names';
import type { Control, ControlAction, Op, OpState } from './op.ts';
import { keyOf, outcomeOf } from './op.ts';
import { laterControl } from './receipt.ts';

/** A request of this person that the gateway has not confirmed yet. It never outlives its deadline. */
export interface Intent {
  readonly id: number;
  readonly action: ControlAction;
  readonly reason: string;
  /** In milliseconds of this computer's clock. */
  readonly deadline: number;
}

/** Why a request did not succeed as intended. */
export type Notice =
  | {
      readonly kind: 'refused';
      readonly action: ControlAction;
      readonly detail: string;
      readonly code: string;
      readonly state: string | undefined;
      readonly allowed: readonly string[];
      readonly at: number;
    }
  /** Somebody or something else was faster. */
  | { readonly kind: 'overtaken'; readonly action: ControlAction; readonly by: OpState; readonly at: number }
  | { readonly kind: 'late'; readonly action: ControlAction; readonly at: number }
  | { readonly kind: 'unanswered'; readonly action: ControlAction; readonly detail: string; readonly at: number };

export type Refusal = Pick<Extract<Notice, { kind: 'refused' }>, 'detail' | 'code' | 'state' | 'allowed'>;

export interface Row {
  /** The address, which also identifies the row on this page. */
  readonly key: string;
  readonly op: Op;
  /** The newest event that the row shows. 0 if none has reported it. */
  readonly eventId: number;
  /** Whether the newest report came by an event. Only the order of events is certain. */
  readonly isByEvent: boolean;
  readonly intent: Intent | undefined;
  readonly notice: Notice | undefined;
  readonly lastIntentId: number;
  /** When this page learned of the end, by this computer's clock. */
  readonly endedAt: number | undefined;
  /** The gateway no longer knows the operation, and the page missed its end. */
  readonly isGone: boolean;
}

export type RowInput =
  /** An event of the stream (with its id), or an answer that shows the operation at some moment. */
  | { readonly type: 'told'; readonly op: Op; readonly eventId?: number; readonly at: number }
  | { readonly type: 'asked'; readonly intent: Intent }
  /** `isNoop`: somebody else had already done it. */
  | {
      readonly type: 'accepted';
      readonly intentId: number;
      readonly action: ControlAction;
      readonly op: Op;
      readonly isNoop: boolean;
      readonly at: number;
    }
  | {
      readonly type: 'refused';
      readonly intentId: number;
      readonly action: ControlAction;
      readonly refusal: Refusal;
      readonly at: number;
    }
  | {
      readonly type: 'unanswered';
      readonly intentId: number;
      readonly action: ControlAction;
      readonly detail: string;
      readonly at: number;
    }
  | { readonly type: 'receipt'; readonly control: Control }
  | { readonly type: 'stale'; readonly isStale: boolean; readonly eventId: number }
  | { readonly type: 'gone'; readonly at: number }
  | { readonly type: 'tick'; readonly now: number };

/** How long a notice stays beside its row. */
export const noticeMs = 20_000;

export function newRow(op: Op, at: number, eventId?: number): Row {
  return {
    key: keyOf(op),
    op,
    eventId: eventId ?? 0,
    isByEvent: eventId !== undefined,
    intent: undefined,
    notice: undefined,
    lastIntentId: 0,
    endedAt: isOver(op.state) ? at : undefined,
    isGone: false,
  };
}

/**
 * Reduces a row, in whatever order events, answers and timeouts come. It shows the last state that the gateway
 * reported. An intent ends with its confirmation, its refusal or its deadline. Without a change, the same row returns.
 */
export function reduceRow(row: Row, input: RowInput): Row {
  switch (input.type) {
    case 'told':
      return heard(settle(tell(row, input.op, input.at, input.eventId), input.at));
    case 'asked':
      return { ...row, intent: input.intent, notice: undefined, lastIntentId: input.intent.id };
    case 'accepted': {
      const told = calm(settle(tell(withoutIntent(row, input.intentId), input.op, input.at), input.at), input.action);
      if (!input.isNoop || input.intentId !== row.lastIntentId) return told;
      return { ...told, notice: { kind: 'overtaken', action: input.action, by: input.op.state, at: input.at } };
    }
    case 'refused': {
      // A newer request has replaced this one, so its refusal is ignored.
      if (input.intentId !== row.lastIntentId) return row;
      const { action, refusal, at } = input;
      return { ...withoutIntent(row, input.intentId), notice: { kind: 'refused', action, ...refusal, at } };
    }
    case 'unanswered': {
      if (input.intentId !== row.lastIntentId) return row;
      const { action, detail, at } = input;
      return { ...withoutIntent(row, input.intentId), notice: { kind: 'unanswered', action, detail, at } };
    }
    case 'receipt': {
      if (row.op.control?.id !== input.control.id) return row;
      const control = laterControl(row.op.control, input.control);
      return control === row.op.control ? row : { ...row, op: { ...row.op, control } };
    }
    case 'stale': {
      if (input.eventId <= row.eventId) return row;
      return { ...row, eventId: input.eventId, op: { ...row.op, stale: input.isStale } };
    }
    case 'gone':
      return row.isGone ? row : { ...row, intent: undefined, isGone: true, endedAt: row.endedAt ?? input.at };
    case 'tick':
      return age(row, input.now);
  }
}

/** Events of one operation come in order. Anything else was true at its own moment, which may be past. */
function tell(row: Row, op: Op, at: number, eventId?: number): Row {
  const { op: known } = row;
  const isNews =
    eventId === undefined
      ? op.updated_at > known.updated_at || (op.updated_at === known.updated_at && !row.isByEvent)
      : eventId > row.eventId && (row.isByEvent || op.updated_at >= known.updated_at);
  const seen = Math.max(row.eventId, eventId ?? 0);
  if (!isNews) {
    const control = op.control?.id === known.control?.id ? laterControl(known.control, op.control) : known.control;
    return control === known.control && seen === row.eventId
      ? row
      : { ...row, eventId: seen, op: { ...known, control } };
  }
  const control = laterControl(known.control, op.control);
  return {
    ...row,
    op: control === op.control ? op : { ...op, control },
    eventId: seen,
    isByEvent: eventId !== undefined,
    endedAt: isOver(op.state) ? (row.endedAt ?? at) : undefined,
    isGone: false,
  };
}

/** A state that fulfils the intent, or rules it out, ends it. */
function settle(row: Row, at: number): Row {
  const { intent, op } = row;
  if (intent === undefined) return row;
  if (op.state === targetOf(intent.action)) return { ...row, intent: undefined };
  if (outcomeOf(op.state, intent.action) !== undefined) return row;
  return { ...row, intent: undefined, notice: { kind: 'overtaken', action: intent.action, by: op.state, at } };
}

/** A doubtful request has succeeded after all. */
function heard(row: Row): Row {
  const { notice, op } = row;
  return notice !== undefined && targetOf(notice.action) === op.state ? calm(row, notice.action) : row;
}

function calm(row: Row, action: ControlAction): Row {
  const { notice } = row;
  const isDoubt = notice?.kind === 'late' || notice?.kind === 'unanswered';
  return isDoubt && notice.action === action ? { ...row, notice: undefined } : row;
}

function age(row: Row, now: number): Row {
  const { intent, notice } = row;
  if (intent !== undefined && now >= intent.deadline) {
    return { ...row, intent: undefined, notice: { kind: 'late', action: intent.action, at: now } };
  }
  if (notice !== undefined && now >= notice.at + noticeMs) return { ...row, notice: undefined };
  return row;
}

function withoutIntent(row: Row, intentId: number): Row {
  return row.intent?.id === intentId ? { ...row, intent: undefined } : row;
}

function targetOf(action: ControlAction): OpState {
  return action === 'pause' ? 'paused' : action === 'resume' ? 'running' : 'terminated';
}

/** Whether to offer the control. Terminate is offered as long as there is anything to end. */
export function canAsk({ op, intent, isGone }: Pick<Row, 'op' | 'intent' | 'isGone'>, action: ControlAction): boolean {
  if (isGone || outcomeOf(op.state, action) === undefined) return false;
  return action === 'terminate' || intent === undefined;
}
