import { isTokenRefused } from '@reeve/contract/names';
import type { Action } from './action.ts';
import type { FullAgentId } from './agent-id.ts';
import type { AgentOps } from './agent-ops.ts';
import type { Answer } from './answer.ts';
import { answerOf } from './answer.ts';
import type { Batch } from './check-many.ts';
import { batchesOf, batchWithToken, checkBatch } from './check-many.ts';
import type { Credential } from './credential.ts';
import { ReeveInvalidRequest } from './errors.ts';
import type { GatewayLink } from './gateway-link.ts';
import type { Limits } from './outage/retry.ts';
import type { LiveOperation } from './live-operation.ts';
import { mayHaveArrived, withoutAnswer } from './outage/outage.ts';
import { neverHappened } from './outage/owed-reports.ts';
import type { CheckDetails, PreparedCheck } from './prepare-check.ts';
import { prepareCheck, withToken } from './prepare-check.ts';
import { opIdOf } from './trace-ids.ts';

/** One of many checks. */
export interface Check extends CheckDetails {
  readonly action: Action;
}

/** Sends the checks of an agent, and updates its operations by the answers. @internal */
export class AgentChecks {
  readonly #link: GatewayLink;
  readonly #ops: AgentOps;
  readonly #id: FullAgentId;
  readonly #credential: Credential;

  constructor(link: GatewayLink, ops: AgentOps, id: FullAgentId, credential: Credential) {
    this.#link = link;
    this.#ops = ops;
    this.#id = id;
    this.#credential = credential;
  }

  prepare(action: Action, details: CheckDetails): PreparedCheck {
    return prepareCheck(this.#id, this.#credential.token, action, details);
  }

  /** For callers that act by themselves: an allowed operation counts as running from then on. */
  async check(check: PreparedCheck, limits: Limits): Promise<Answer> {
    const op = this.#ops.open(opIdOf(check.ids));
    try {
      return this.#begun(op, await this.ask(check, limits, op));
    } finally {
      this.#ops.close(op);
    }
  }

  async checkMany(checks: readonly Check[], limits: Limits): Promise<Answer[]> {
    const prepared = checks.map((check, index) => this.#prepareOneOfMany(check, index));
    const batches = batchesOf(prepared);
    const ops = prepared.map(({ ids }) => this.#ops.open(opIdOf(ids)));
    const answers: Answer[] = [];
    try {
      for (const op of ops) this.#ops.asked(op);
      for (const batch of batches) answers.push(...(await this.#askBatch(batch, ops, limits)));
      return answers.map((answer, index) => this.#begun(ops[index], answer));
    } catch (error) {
      for (const [index, { allowed }] of answers.entries()) if (allowed) this.#callOff(ops[index]);
      throw error;
    } finally {
      for (const op of ops) this.#ops.close(op);
    }
  }

  async ask(check: PreparedCheck, limits: Limits, op: LiveOperation): Promise<Answer> {
    const { onUnavailable } = this.#link.settings;
    this.#ops.asked(op);
    const asked = async (token: string) => answerOf(await this.#link.check(withToken(check, token), limits), check.ids);
    try {
      return await this.#credential.withCheck(asked, isRefused);
    } catch (error) {
      if (mayHaveArrived(error)) this.#callOff(op);
      return withoutAnswer(error, check.ids, onUnavailable);
    }
  }

  async #askBatch(batch: Batch, ops: readonly LiveOperation[], limits: Limits): Promise<Answer[]> {
    const { onUnavailable } = this.#link.settings;
    const asked = (token: string) => checkBatch(this.#link, batchWithToken(batch, token), limits);
    try {
      return await this.#credential.withCheck(asked, (answers) => answers.some(isRefused));
    } catch (error) {
      if (mayHaveArrived(error)) for (const [index] of batch.checks.entries()) this.#callOff(ops[batch.from + index]);
      return batch.checks.map(({ ids }) => withoutAnswer(error, ids, onUnavailable));
    }
  }

  #begun(op: LiveOperation | undefined, answer: Answer): Answer {
    if (op === undefined) return answer;
    const current = this.#ops.upToDate(op, answer);
    if (current.allowed) op.begin();
    return current;
  }

  /** The gateway may have allowed an abandoned check. This reports later that the action never happened. */
  #callOff(op: LiveOperation | undefined): void {
    if (op === undefined || op.running) return;
    this.#ops.owed.add(op.id);
    this.#ops.ended(op.id, neverHappened);
  }

  #prepareOneOfMany({ action, ...details }: Check, index: number): PreparedCheck {
    try {
      return this.prepare(action, details);
    } catch (error) {
      if (!(error instanceof ReeveInvalidRequest)) throw error;
      throw new ReeveInvalidRequest(`checks[${index}].${error.message}`);
    }
  }
}

function isRefused({ policyRule, reason }: Answer): boolean {
  return isTokenRefused(policyRule, reason);
}
