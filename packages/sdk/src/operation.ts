import type { OpState } from '@reeve/contract/names';
import type { Answer } from './answer.ts';
import type { Completion, Outcome, TokenUsage } from './completion.ts';
import type { LiveOperation } from './live-operation.ts';
import { requireMicros } from './validate.ts';

/** An operation as an operator can control it. */
export interface OperationControl {
  readonly id: string;
  /** The state that this process knows. */
  readonly state: OpState;
  /** Fires when the operation is terminated. Its reason is an `OperationTerminatedError`. */
  readonly signal: AbortSignal;
  /**
   * A point at which the work can stop. It passes at once while the operation runs, waits while it is paused, and
   * throws an `OperationTerminatedError` once it is terminated.
   */
  checkpoint(this: void): Promise<void>;
  /**
   * Has judged what the action brought back, before a model reads it, and gives it as it may be read. Throws `ResultDenied`.
   * Needed where the answer says `judgeResult`, by those who do not use `run`; the operation must not be completed yet.
   */
  checkResult<Result>(this: void, result: Result, how?: { readonly isError?: boolean | undefined }): Promise<Result>;
  /**
   * Has masked what a model is asked, and gives it as its provider may see it. Throws `ResultDenied` if nobody can tell.
   * Needed where the answer says `judgePrompt`, before anything is sent.
   */
  checkPrompt<Prompt>(this: void, prompt: Prompt): Promise<Prompt>;
  /**
   * Has judged a piece of an answer that is still coming: how much of it may be read now, and how. What is left is to be sent
   * again with what follows it. Undefined where rules need the whole answer, or where nobody could judge the piece: then nothing
   * more may be read before the whole is judged. It takes the place of no `checkResult`, which judges the whole at its end.
   * A piece has at most 64 KiB.
   */
  checkStreamed(this: void, piece: StreamedPiece): Promise<StreamedText | undefined>;
}

/** A piece of an answer: a whole value as JSON, or a piece of a text that begins with it, with a line, or within one. */
export interface StreamedPiece {
  readonly place: 'value' | 'text' | 'line' | 'within';
  readonly text: string;
}

/** What may be read of a piece, and what is left of it. */
export interface StreamedText {
  readonly read: string;
  readonly rest: string;
}

/** A running allowed action. */
export interface Operation extends OperationControl {
  readonly answer: Answer;
  /** The arguments of a tool call to act with: as rules have rewritten them, or else as they were given. */
  readonly args: unknown;
  /** Sets the total cost of the action in micro-dollars. Without a call, the estimate counts. See `usd`. */
  spent(this: void, micros: number): void;
  /** Sets a one-line note on how it went, for people who watch. */
  note(this: void, detail: string): void;
  /** Sets what a model call used. The gateway computes the cost from it, unless `spent` says what it was. */
  used(this: void, usage: TokenUsage): void;
  /** Sets how the action ended. Otherwise it succeeded if the work returns, and failed if the work throws. */
  ended(this: void, outcome: Outcome): void;
}

/** Has a result of an operation judged, and gives it as it may be read. @internal */
export type Judge = <Result>(op: LiveOperation, result: Result, isError?: boolean) => Promise<Result>;

/** Who has judged what comes of an operation, and what it asks. @internal */
export interface Judges {
  readonly judged: Judge;
  readonly judgedPrompt: <Prompt>(op: LiveOperation, prompt: Prompt) => Promise<Prompt>;
  readonly judgedPiece: (op: LiveOperation, piece: StreamedPiece) => Promise<StreamedText | undefined>;
}

/** @internal */
export function controlledOperation(
  op: LiveOperation,
  { judged, judgedPrompt, judgedPiece }: Judges,
): OperationControl {
  return {
    id: op.id,
    get state() {
      return op.state;
    },
    get signal() {
      return op.signal;
    },
    checkpoint: () => op.checkpoint(),
    checkResult: (result, { isError } = {}) => judged(op, result, isError),
    checkPrompt: (prompt) => judgedPrompt(op, prompt),
    checkStreamed: (piece) => judgedPiece(op, piece),
  };
}

/** What the work has said of its operation so far. @internal */
export interface Said extends Completion {
  /** Whether the work has had a result judged itself. */
  readonly hasJudged: boolean;
}

/** The operation as the work sees it. @internal */
export function workedOperation(
  op: LiveOperation,
  answer: Answer,
  { judged, judgedPrompt, judgedPiece }: Judges,
  args: unknown,
): { operation: Operation; said: () => Said } {
  let hasJudged = false;
  let actualCostMicros: number | undefined;
  let detail: string | undefined;
  let usage: TokenUsage | undefined;
  let outcome: Outcome | undefined;
  const operation: Operation = {
    id: op.id,
    answer,
    args: answer.rewrittenArgs ?? args,
    get state() {
      return op.state;
    },
    get signal() {
      return op.signal;
    },
    checkpoint: () => op.checkpoint(),
    checkResult: (result, { isError } = {}) => {
      hasJudged = true;
      return judged(op, result, isError);
    },
    checkPrompt: (prompt) => judgedPrompt(op, prompt),
    checkStreamed: (piece) => judgedPiece(op, piece),
    spent: (micros) => {
      actualCostMicros = requireMicros('micros', micros);
    },
    note: (text) => {
      detail = text;
    },
    used: (tokens) => {
      usage = tokens;
    },
    ended: (how) => {
      outcome = how;
    },
  };
  return { operation, said: () => ({ actualCostMicros, detail, usage, outcome, hasJudged }) };
}
