import { bounds } from '@reeve/contract';
import type { Agent } from '../agent.ts';
import type { TokenUsage } from '../completion.ts';
import { callContext } from '../current-operation.ts';
import type { Operation } from '../operation.ts';
import type { AskedPrompt } from './asked-prompt.ts';
import { maskedMembers } from './asked-prompt.ts';
import type { GovernedAction, JudgedPart } from './govern-call.ts';
import { governCall } from './govern-call.ts';
import type { GovernOptions } from './govern-options.ts';
import { approvalWaitOf, runIdOf } from './govern-options.ts';
import type { OpenCall } from './open-call.ts';
import { openCall } from './open-call.ts';
import { denied, refusalError } from './refusal.ts';

/** How calls of a governed model are checked. */
export interface GovernModelOptions extends Pick<GovernOptions, 'approvalWaitMs' | 'runId' | 'caller'> {
  /** The name of the model for policies and prices. Otherwise the model's own. */
  readonly model?: string | undefined;
  /** What to assume if a call sets no maximum. Reserved until the model says what it used. Default 4096. */
  readonly maxOutputTokens?: number | undefined;
  /** An upper bound of the tokens of a prompt. Otherwise its bytes, since a token has at least one. */
  readonly promptTokens?: ((prompt: unknown) => number) | undefined;
}

/** What a framework tells of a call of a model. */
export interface ModelUse {
  readonly model: string;
  /** Everything that the provider counts as input. */
  readonly prompt: unknown;
  readonly maxOutputTokens: number | undefined;
  /** What rules mask, if the call is made with what they leave of it. Otherwise a call whose prompt they mask is denied. */
  readonly asked?: AskedPrompt | undefined;
  readonly runId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const defaultOutputTokens = 4096;
/** The most that providers count for one picture, whatever its bytes. */
const pictureTokens = 4096;

function modelAction(use: ModelUse, options: GovernModelOptions): GovernedAction {
  const { model, prompt, maxOutputTokens, runId, signal } = use;
  const around = callContext.getStore();
  const bound = options.promptTokens?.(prompt) ?? promptBound(prompt);
  return {
    action: {
      type: 'llm_call',
      model: options.model ?? model,
      promptTokens: Math.min(bounds.int32, Math.ceil(bound)),
      maxOutputTokens: maxOutputTokens ?? options.maxOutputTokens ?? defaultOutputTokens,
    },
    details: {
      runId: runIdOf(options) ?? runId ?? around?.runId,
      caller: options.caller,
      waitMs: approvalWaitOf(options),
      canMaskPrompt: use.asked !== undefined,
      signal,
    },
  };
}

/** Asks, calls the model, and settles with the usage of its answer. Throws if the call is refused. */
export async function governAnswer<Answer>(
  agent: Agent,
  use: ModelUse,
  options: GovernModelOptions,
  call: (signal: AbortSignal, masked: MaskedMembers) => PromiseLike<Answer>,
  usageOf: (answer: Answer) => TokenUsage | undefined,
  judged: JudgedPart<Answer>,
): Promise<Answer> {
  const work = async (signal: AbortSignal, operation: Operation) => {
    const masked = await maskedFor(use, operation);
    const answer = await failingFree(operation, () => call(signal, masked));
    settle(operation, usageOf(answer));
    return answer;
  };
  const outcome = await governCall(agent, modelAction(use, options), work, judged);
  if ('refusal' in outcome) throw refusalError(outcome.refusal);
  return outcome.result;
}

/** Asks, and begins a call whose answer is read while it comes. Throws if the call is refused. */
export function openAnswer<Opened>(
  agent: Agent,
  use: ModelUse,
  options: GovernModelOptions,
  open: (signal: AbortSignal, masked: MaskedMembers) => Opened | PromiseLike<Opened>,
): Promise<OpenCall<Opened>> {
  return openCall(agent, modelAction(use, options), async (signal, operation) => {
    requireNoJudgement(operation);
    const masked = await maskedFor(use, operation);
    return failingFree(operation, () => open(signal, masked));
  });
}

/** Members of a request to send in place of its own. */
export type MaskedMembers = Readonly<Record<string, unknown>>;

/** What rules leave of the prompt of a call, where they mask it. */
async function maskedFor({ asked }: ModelUse, operation: Operation): Promise<MaskedMembers> {
  return asked === undefined ? {} : maskedMembers(operation, asked);
}

/** Without a report of the provider, the estimate counts. */
export function settle(operation: Operation, usage: TokenUsage | undefined): void {
  if (usage !== undefined) operation.used(usage);
}

/** A stream is read while it comes, so nobody can judge it before. */
function requireNoJudgement({ answer, id, spent, ended }: Operation): void {
  if (!answer.judgeResult) return;
  spent(0);
  ended('cancelled');
  const reason =
    'a rule on results matches this call of a model, whose answer cannot be judged while it streams; call it without ' +
    'streaming, or let the rule name the actions that it is for';
  throw refusalError(denied({ reason, policyRule: '', opId: id }));
}

/** An error status of the provider costs nothing. After any other failure it may have done the work. */
async function failingFree<Result>(operation: Operation, call: () => Result | PromiseLike<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const { statusCode, status = statusCode } = (error ?? {}) as { statusCode?: unknown; status?: unknown };
    if (typeof status === 'number' && status >= 400) operation.spent(0);
    throw error;
  }
}

/** Whole numbers of tokens, as the gateway takes them. */
export function usageFrom(input: unknown, output: unknown, cached: unknown): TokenUsage | undefined {
  const usage = { inputTokens: tokens(input), outputTokens: tokens(output), cachedInputTokens: tokens(cached) };
  return Object.values(usage).some((each) => each !== undefined) ? usage : undefined;
}

function tokens(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.min(bounds.int32, Math.ceil(value)) : undefined;
}

/** Text by its bytes, pictures by what providers count for one, and other files by their bytes as well. */
function promptBound(prompt: unknown): number {
  let beside = 0;
  const text = JSON.stringify(prompt, function replaced(this: Readonly<Record<string, unknown>>, key, value: unknown) {
    // A buffer has turned itself into a list of numbers already.
    const original = this[key];
    if (typeof original === 'bigint') return String(original);
    if (original instanceof Uint8Array) {
      beside += isPicture(this['mediaType']) ? pictureTokens : original.byteLength;
      return undefined;
    }
    if (typeof original !== 'string' || !original.startsWith('data:image/')) return value;
    beside += pictureTokens;
    return undefined;
  });
  return Math.max(1, Buffer.byteLength(text ?? '')) + beside;
}

function isPicture(mediaType: unknown): boolean {
  return typeof mediaType === 'string' && mediaType.startsWith('image/');
}
