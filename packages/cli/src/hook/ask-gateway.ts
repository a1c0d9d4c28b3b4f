import { statusCode } from '@reeve/grpc-server/client';
import type { Outcome } from '@reeve/sdk';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { GatewayRefusal } from '../grpc/unary-calls.ts';
import type { ActionAnswer } from './describe-answer.ts';
import { GatewayCalls } from './gateway-calls.ts';
import type { PlannedAction } from './hook-event.ts';
import type { Asker, CheckAnswer } from './hook-messages.ts';
import { checkAnswer, checkRequest, completeRequest } from './hook-messages.ts';

/** The operation is over already. */
const over: ReadonlySet<number> = new Set([statusCode.notFound, statusCode.failedPrecondition]);
/** Reasons of a refused identity that a new registration cures. */
const cured =
  /^(?:credential token mismatch|agent is not registered|credential token registered to a different agent)$/;

/** The connection of one hook to the gateway, as one agent. */
export class GatewayConversation implements Disposable {
  readonly #calls: GatewayCalls;
  readonly #renew: ResolvedAgent['renew'];
  #asker: Asker;

  private constructor(calls: GatewayCalls, asker: Asker, renew: ResolvedAgent['renew']) {
    this.#calls = calls;
    this.#asker = asker;
    this.#renew = renew;
  }

  static async open(
    { token, gateway, agentId, renew }: ResolvedAgent,
    { host, trace, subjectToken }: Pick<Asker, 'host' | 'trace' | 'subjectToken'>,
  ) {
    const calls = await GatewayCalls.open(gateway);
    try {
      const id = agentId ?? (await calls.identify(token));
      return new GatewayConversation(calls, { agentId: id, token, host, trace, subjectToken }, renew);
    } catch (error) {
      calls[Symbol.dispose]();
      throw error;
    }
  }

  get asker(): Asker {
    return this.#asker;
  }

  /** Asks about all actions together. Each gets its own answer. */
  async ask(actions: readonly PlannedAction[], spans: readonly string[]): Promise<readonly ActionAnswer[]> {
    const answers = await this.#ask(actions, spans);
    const isRefused = answers.some(({ policyRule, reason }) => policyRule === 'identity' && cured.test(reason));
    if (!isRefused || this.#renew === undefined) return answers;
    const { token } = await this.#renew();
    this.#asker = { ...this.#asker, token };
    return this.#ask(actions, spans);
  }

  async #ask(actions: readonly PlannedAction[], spans: readonly string[]): Promise<readonly ActionAnswer[]> {
    const requests = actions.map((planned, index) => checkRequest(this.#asker, spans[index] ?? '', planned));
    const responses = await this.#calls.check(requests);
    return responses.map((response, index) =>
      answerOf(checkAnswer(response), this.#asker.trace, actions[index], spans[index]),
    );
  }

  /** Reports how operations ended. Those that are over already need no report. */
  async complete(spans: readonly string[], outcome: Outcome, detail = ''): Promise<void> {
    const report = async (span: string) => {
      try {
        await this.#calls.complete(completeRequest(this.#asker, span, outcome, detail));
      } catch (error) {
        if (!(error instanceof GatewayRefusal && over.has(error.status))) throw error;
      }
    };
    const reports = await Promise.allSettled(spans.map(report));
    const failed = reports.find((settled) => settled.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  [Symbol.dispose](): void {
    this.#calls[Symbol.dispose]();
  }
}

/** An answer about another operation does not count: it must never allow this one. */
function answerOf(response: CheckAnswer, trace: string, planned?: PlannedAction, span = ''): ActionAnswer {
  const { decision } = response;
  const isOurs = response.opId === `${trace}:${span}` || (response.opId === '' && decision === 'deny');
  if (decision === undefined || !isOurs || planned === undefined) {
    throw new GatewayRefusal(statusCode.internal, 'the gateway answered something else than was asked');
  }
  const { reason, policyRule, opId, approvalId } = response;
  return { planned, span, decision, reason, policyRule, opId, approvalId };
}

export function isUnknownToken(error: unknown): boolean {
  return error instanceof GatewayRefusal && error.status === statusCode.unauthenticated;
}
