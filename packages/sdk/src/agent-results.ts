import type { CheckResultResponse } from '@reeve/contract';
import { Decision, JudgedPart, StreamedPlace } from '@reeve/contract';
import type { FullAgentId } from './agent-id.ts';
import type { Credential } from './credential.ts';
import { OperationTerminatedError, ReeveInternal, ReeveInvalidTransition } from './errors.ts';
import type { GatewayLink } from './gateway-link.ts';
import type { LiveOperation } from './live-operation.ts';
import type { Judge, StreamedPiece, StreamedText } from './operation.ts';
import { remainingMs } from './outage/retry.ts';
import { UnjudgeableResult } from './plain-copy.ts';
import { ResultDenied } from './result-denied.ts';
import { rpc } from './rpc-methods.ts';
import { nextOf } from './run-action.ts';
import type { WireResult } from './wire-result.ts';
import { wireErrorOf, wireResultOf } from './wire-result.ts';

const mebibyte = 1024 * 1024;
const msPerMebibyte = 1000;

/** What is to be judged. Without a part, it is a result. */
interface Asked {
  readonly isError: boolean;
  readonly part?: JudgedPart;
  readonly place?: StreamedPlace;
}

const places = {
  text: StreamedPlace.TEXT_START,
  line: StreamedPlace.LINE_START,
  within: StreamedPlace.WITHIN_LINE,
} as const;

/** Has judged what the operations of an agent bring back. Whatever goes wrong with a whole is a `ResultDenied`. @internal */
export class AgentResults {
  readonly #link: GatewayLink;
  readonly #id: FullAgentId;
  readonly #credential: Credential;

  constructor(link: GatewayLink, id: FullAgentId, credential: Credential) {
    this.#link = link;
    this.#id = id;
    this.#credential = credential;
  }

  /** The result as it may be read. Throws `OperationTerminatedError` if the operation is over before that is known. */
  readonly judged: Judge = async <Result>(op: LiveOperation, result: Result, isError = false) =>
    (await this.#judged(op, () => wireResultOf(result), { isError })) as Result;

  /** The prompt as a provider may see it. */
  readonly judgedPrompt = async <Prompt>(op: LiveOperation, prompt: Prompt) =>
    (await this.#judged(op, () => wireResultOf(prompt), { isError: false, part: JudgedPart.PROMPT })) as Prompt;

  /**
   * How much of a piece of a streamed answer may be read now, and how. Undefined if only the whole can be judged, or if this
   * piece could not be: a gateway that is older, or away for a moment, may still judge the whole.
   */
  readonly judgedPiece = async (
    op: LiveOperation,
    { place, text }: StreamedPiece,
  ): Promise<StreamedText | undefined> => {
    const bytes = Buffer.from(text);
    const asked = { isError: false, part: JudgedPart.STREAMED };
    try {
      const answer = await this.#ask(op, bytes, place === 'value' ? asked : { ...asked, place: places[place] });
      const { taken, resultJson } = answer;
      if (taken === undefined) return undefined;
      const read = resultJson ?? bytes.subarray(0, taken);
      return { rest: bytes.subarray(taken).toString(), read: Buffer.from(read).toString() };
    } catch (error) {
      if (error instanceof ResultDenied || error instanceof OperationTerminatedError) throw error;
      return undefined;
    }
  };

  /** What to throw in place of what the work has thrown. */
  readonly judgedError = (op: LiveOperation, thrown: unknown): Promise<unknown> =>
    this.#judged(op, () => wireErrorOf(thrown), { isError: true });

  async #judged(op: LiveOperation, wireOf: () => WireResult, asked: Asked): Promise<unknown> {
    try {
      const wire = wireOf();
      const { resultJson: masked } = await this.#ask(op, wire.bytes, asked);
      return masked === undefined ? wire.given : wire.read(masked);
    } catch (error) {
      if (error instanceof ResultDenied || error instanceof OperationTerminatedError) throw error;
      const what = asked.part === JudgedPart.PROMPT ? 'prompt' : 'result';
      const why = error instanceof UnjudgeableResult ? error.message : `could not be judged: ${messageOf(error)}`;
      const reason = `the ${what} ${why}`;
      throw new ResultDenied({ opId: op.id, reason, source: 'sdk' });
    }
  }

  async #ask(op: LiveOperation, resultJson: Buffer, asked: Asked): Promise<CheckResultResponse> {
    for (;;) {
      try {
        return await this.#askOnce(op.id, resultJson, asked);
      } catch (error) {
        if (!(error instanceof ReeveInvalidTransition)) throw error;
        await explained(op, this.#link.limits({}), error);
      }
    }
  }

  async #askOnce(opId: string, resultJson: Buffer, asked: Asked): Promise<CheckResultResponse> {
    const deadlineMs = this.#link.settings.deadlineMs + Math.ceil(resultJson.length / mebibyte) * msPerMebibyte;
    const limits = this.#link.limits({ deadlineMs });
    const request = { agentId: { ...this.#id }, opId, resultJson, ...asked };
    const answer = await this.#credential.with((credentialToken) =>
      this.#link.send(rpc.checkResult, { ...request, credentialToken }, limits),
    );
    // A gateway that does not know of prompts would have judged this one as a result.
    if (answer.part !== asked.part) throw new ReeveInternal('the gateway judged something else than was asked');
    if (answer.decision === Decision.ALLOW) return answer;
    const { reason, policyRule } = answer;
    throw new ResultDenied({ opId, reason, policyRule, source: 'gateway' });
  }
}

/**
 * The gateway does not take the operation for running: it is paused, or over. A control says which, and may still be on its
 * way. Returns once a pause is over.
 */
async function explained(op: LiveOperation, limits: ReturnType<GatewayLink['limits']>, error: Error): Promise<void> {
  await nextOf(op, limits);
  if (remainingMs(limits.deadline) === 0 && op.state !== 'paused') throw error;
  await op.checkpoint();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
