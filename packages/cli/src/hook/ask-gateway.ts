import { isTokenRefused } from '@reeve/contract/names';
import { decisionNames } from '@reeve/contract';
import { statusCode } from '@reeve/grpc-server/client';
import type { Decision, Outcome } from '@reeve/sdk';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { refusedToken } from '../agent-identity/resolve-agent.ts';
import { GatewayRefusal } from '../grpc/unary-calls.ts';
import type { ActionAnswer } from './describe-answer.ts';
import { GatewayCalls } from './gateway-calls.ts';
import type { PlannedAction } from './hook-event.ts';
import type { Asker, CheckAnswer } from './hook-messages.ts';
import { checkAnswer, checkRequest, completeRequest, resultRequest } from './hook-messages.ts';

/** The operation is over already. */
const over: ReadonlySet<number> = new Set([statusCode.notFound, statusCode.failedPrecondition]);

/** What the gateway said of a result. */
export interface ResultAnswer {
  readonly decision: Decision | undefined;
  readonly reason: string;
  readonly policyRule: string;
  readonly resultJson: Uint8Array | undefined;
}

/** The connection of one hook to the gateway, as one agent. */
export class GatewayConversation implements Disposable {
  readonly #calls: GatewayCalls;
  readonly #agent: ResolvedAgent;
  #asker: Asker;

  private constructor(calls: GatewayCalls, asker: Asker, agent: ResolvedAgent) {
    this.#calls = calls;
    this.#asker = asker;
    this.#agent = agent;
  }

  static async open(agent: ResolvedAgent, about: Pick<Asker, 'host' | 'trace' | 'subjectToken'>) {
    const calls = await GatewayCalls.open(agent.gateway);
    try {
      const asker = { ...about, token: agent.token, agentId: agent.agentId ?? { orgId: '', teamId: '', agentId: '' } };
      const conversation = new GatewayConversation(calls, asker, agent);
      if (agent.agentId === undefined) await conversation.#identify();
      return conversation;
    } catch (error) {
      calls[Symbol.dispose]();
      throw error;
    }
  }

  get asker(): Asker {
    return this.#asker;
  }

  /** Asks about all actions together. Each gets its own answer. */
  async ask(
    actions: readonly PlannedAction[],
    spans: readonly string[],
    canRewrite: boolean,
  ): Promise<readonly ActionAnswer[]> {
    const ask = async () => this.#ask(actions, spans, canRewrite);
    const answers = await ask();
    if (!answers.some(isRefused)) return answers;
    const again = (await this.#takeNext()) ? await ask() : answers;
    const advised = (reason: string) => refusedToken(reason, this.#agent.advice);
    return again.map((answer) => (isRefused(answer) ? { ...answer, reason: advised(answer.reason) } : answer));
  }

  async #ask(
    actions: readonly PlannedAction[],
    spans: readonly string[],
    canRewrite: boolean,
  ): Promise<readonly ActionAnswer[]> {
    const requests = actions.map((planned, index) =>
      checkRequest(this.#asker, spans[index] ?? '', planned, canRewrite),
    );
    const responses = await this.#calls.check(requests);
    return responses.map((response, index) =>
      answerOf(checkAnswer(response), this.#asker.trace, canRewrite, actions[index], spans[index]),
    );
  }

  /** Has judged what an operation brought back. The bytes are those that may be read, if they are others. */
  async checkResult(span: string, result: Buffer, isError: boolean): Promise<ResultAnswer> {
    const { decision, reason, policyRule, resultJson } = await this.#withToken(() =>
      this.#calls.checkResult(resultRequest(this.#asker, span, result, isError)),
    );
    return { decision: decisionNames.nameOf(decision), reason, policyRule, resultJson };
  }

  /** Reports how operations ended. Those that are over already need no report. */
  async complete(spans: readonly string[], outcome: Outcome, detail = ''): Promise<void> {
    const report = async (span: string) => {
      try {
        await this.#withToken(() => this.#calls.complete(completeRequest(this.#asker, span, outcome, detail)));
      } catch (error) {
        if (!(error instanceof GatewayRefusal && over.has(error.status))) throw error;
      }
    };
    const reports = await Promise.allSettled(spans.map(report));
    const failed = reports.find((settled) => settled.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #identify(): Promise<void> {
    const agentId = await this.#withToken(() => this.#calls.identify(this.#asker.token));
    this.#asker = { ...this.#asker, agentId };
  }

  /** Makes a call, and once more with the next token if the gateway refuses this one. */
  async #withToken<Result>(call: () => Promise<Result>): Promise<Result> {
    const { token } = this.#asker;
    try {
      return await call();
    } catch (error) {
      if (!isUnknownToken(error)) throw error;
      if (token === this.#asker.token && !(await this.#takeNext())) {
        throw new GatewayRefusal(error.status, refusedToken(error.message, this.#agent.advice));
      }
      return call();
    }
  }

  async #takeNext(): Promise<boolean> {
    const token = await this.#agent.next(this.#asker.token, 'check');
    if (token !== undefined) this.#asker = { ...this.#asker, token };
    return token !== undefined;
  }

  [Symbol.dispose](): void {
    this.#calls[Symbol.dispose]();
  }
}

/** An answer about another operation does not count: it must never allow this one. */
function answerOf(
  response: CheckAnswer,
  trace: string,
  canRewrite: boolean,
  planned?: PlannedAction,
  span = '',
): ActionAnswer {
  const { decision, args } = response;
  const isOurs = response.opId === `${trace}:${span}` || (response.opId === '' && decision === 'deny');
  if (decision === undefined || !isOurs || planned === undefined || (args !== undefined && !canRewrite)) {
    throw new GatewayRefusal(statusCode.internal, 'the gateway answered something else than was asked');
  }
  const { reason, policyRule, opId, approvalId, judgesResult } = response;
  return { planned, span, decision, reason, policyRule, opId, approvalId, judgesResult, args };
}

function isRefused({ policyRule, reason }: ActionAnswer): boolean {
  return isTokenRefused(policyRule, reason);
}

export function isUnknownToken(error: unknown): error is GatewayRefusal {
  return error instanceof GatewayRefusal && error.status === statusCode.unauthenticated;
}
