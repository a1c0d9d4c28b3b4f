import type { Action } from './action.ts';
import type { FullAgentId } from './agent-id.ts';
import type { Answer } from './answer.ts';
import { answerOf, unreachableAnswer } from './answer.ts';
import type { Batch } from './check-many.ts';
import { batchesOf, checkBatch } from './check-many.ts';
import type { Completion } from './completion.ts';
import { completionRequest } from './completion.ts';
import {
  ReeveError,
  ReeveInternal,
  ReeveInvalidRequest,
  ReeveInvalidTransition,
  ReeveOpNotFound,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from './errors.ts';
import type { CallOptions, GatewayLink, Limits } from './gateway-link.ts';
import { startHeartbeat } from './heartbeat.ts';
import { OwedReports } from './owed-reports.ts';
import type { CheckDetails, PreparedCheck } from './prepare-check.ts';
import { prepareCheck } from './prepare-check.ts';
import { rpc } from './rpc-methods.ts';
import type { Work } from './run-action.ts';
import { runAction } from './run-action.ts';
import type { TraceIds } from './trace-ids.ts';
import { opIdOf } from './trace-ids.ts';

export interface CheckOptions extends CheckDetails, CallOptions {}

/** One of many checks. */
export interface Check extends CheckDetails {
  readonly action: Action;
}

/** What the gateway said at the last heartbeat. */
export interface AgentStatus {
  readonly suspended: boolean;
  readonly policyVersion: string;
}

export interface Registration {
  readonly id: FullAgentId;
  readonly token: string;
  readonly created: boolean;
  readonly heartbeatMs: number;
  readonly onRevoked: (() => void) | undefined;
}

/** A registered agent: it asks before it acts, and reports when it is done. */
export class Agent {
  readonly id: FullAgentId;
  /** False where the same identity was registered before. */
  readonly created: boolean;
  readonly #token: string;
  readonly #link: GatewayLink;
  readonly #owed = new OwedReports();
  readonly #stop: () => void;
  #status: AgentStatus = { suspended: false, policyVersion: '' };
  #revoked = false;

  constructor(link: GatewayLink, { id, token, created, heartbeatMs, onRevoked }: Registration) {
    this.id = id;
    this.created = created;
    this.#token = token;
    this.#link = link;
    const stopBeating = startHeartbeat({
      intervalMs: heartbeatMs,
      beat: () => this.heartbeat(),
      onRevoked: () => {
        this.#revoked = true;
        onRevoked?.();
      },
    });
    const forget = link.onClose(stopBeating);
    this.#stop = () => {
      stopBeating();
      forget();
    };
  }

  /** Whether an operator has suspended the agent, as of the last heartbeat. Its checks are then denied. */
  get suspended(): boolean {
    return this.#status.suspended;
  }

  /** Which policies are in force, as of the last heartbeat; empty before the first. */
  get policyVersion(): string {
    return this.#status.policyVersion;
  }

  /** Whether the token has stopped being accepted. */
  get revoked(): boolean {
    return this.#revoked;
  }

  /** Asks whether an action may happen. Where no answer comes in time, it may not. */
  async check(action: Action, options: CheckOptions = {}): Promise<Answer> {
    const check = prepareCheck(this.id, this.#token, action, options);
    const limits = this.#link.limits(options);
    this.#owed.forget(opIdOf(check.ids));
    try {
      return answerOf(await this.#link.check(check, limits), check.ids);
    } catch (error) {
      this.#callOff(error, [check]);
      return this.#unreachable(error, check.ids);
    }
  }

  /** Asks for many actions at once; each is judged on its own. Answers in the order of the checks. */
  async checkMany(checks: readonly Check[], options: CallOptions = {}): Promise<Answer[]> {
    const prepared = checks.map((check, index) => this.#prepareOneOfMany(check, index));
    const batches = batchesOf(prepared);
    const limits = this.#link.limits(options);
    for (const { ids } of prepared) this.#owed.forget(opIdOf(ids));
    const answers: Answer[] = [];
    try {
      for (const batch of batches) answers.push(...(await this.#checkBatch(batch, limits)));
    } catch (error) {
      for (const { allowed, opId } of answers) if (allowed) this.#owed.add(opId);
      throw error;
    }
    return answers;
  }

  /**
   * Checks an action, does it where it is allowed, and reports how it ended. Throws `ReeveNotAllowed` where it is denied
   * or held. A report that cannot be delivered does not cost the result: it is sent with a later heartbeat.
   */
  async run<Result>(action: Action, work: Work<Result>, options: CheckOptions = {}): Promise<Result> {
    const answer = await this.check(action, options);
    return runAction(answer, work, (completion) => this.#report(answer.opId, completion));
  }

  /** Reports that an allowed action has ended. */
  async complete(opId: string, completion: Completion = {}, options: CallOptions = {}): Promise<void> {
    const request = completionRequest(this.id, this.#token, opId, completion);
    const isDone = (error: unknown) => error instanceof ReeveInvalidTransition;
    await this.#link.tell(rpc.completeAction, request, this.#link.limits(options), isDone);
  }

  /** Sends a heartbeat now; others follow by themselves. */
  async heartbeat(options: CallOptions = {}): Promise<AgentStatus> {
    const request = { agentId: { ...this.id }, credentialToken: this.#token };
    const { suspended, policyVersion } = await this.#link.sendOnce(rpc.heartbeat, request, this.#link.limits(options));
    this.#status = { suspended, policyVersion };
    await this.#owed.deliver((opId, completion) => this.complete(opId, completion));
    return this.#status;
  }

  /** Ends the registration: the token stops, and operations in flight are terminated. */
  async deregister(reason = '', options: CallOptions = {}): Promise<void> {
    const request = { agentId: { ...this.id }, credentialToken: this.#token, reason };
    const isDone = (error: unknown) => error instanceof ReeveUnauthenticated;
    await this.#link.tell(rpc.deregisterAgent, request, this.#link.limits(options), isDone);
    this.#stop();
  }

  async #checkBatch(batch: Batch, limits: Limits): Promise<Answer[]> {
    try {
      return await checkBatch(this.#link, batch, limits);
    } catch (error) {
      this.#callOff(error, batch.checks);
      return batch.checks.map(({ ids }) => this.#unreachable(error, ids));
    }
  }

  /** Fail closed: no answer is a denial, or an error where the caller wants that. */
  #unreachable(error: unknown, ids: TraceIds): Answer {
    if (!(error instanceof ReeveUnavailable) || this.#link.settings.onUnavailable === 'throw') throw error;
    return unreachableAnswer(ids, error.message);
  }

  /** What was given up here may have been allowed there: the gateway is told later that it never happened. */
  #callOff(error: unknown, checks: readonly PreparedCheck[]): void {
    const refused = error instanceof ReeveError && !(error instanceof ReeveInternal);
    const mayHaveArrived = error instanceof ReeveUnavailable ? error.mayHaveArrived : !refused;
    if (mayHaveArrived) for (const { ids } of checks) this.#owed.add(opIdOf(ids));
  }

  async #report(opId: string, completion: Completion): Promise<void> {
    try {
      await this.complete(opId, completion);
    } catch (error) {
      if (error instanceof ReeveUnavailable) this.#owed.add(opId, completion);
      // The operation is over already, as when an operator has terminated it: there is nothing left to report.
      else if (!(error instanceof ReeveInvalidTransition || error instanceof ReeveOpNotFound)) throw error;
    }
  }

  #prepareOneOfMany({ action, ...details }: Check, index: number): PreparedCheck {
    try {
      return prepareCheck(this.id, this.#token, action, details);
    } catch (error) {
      if (!(error instanceof ReeveInvalidRequest)) throw error;
      throw new ReeveInvalidRequest(`checks[${index}].${error.message}`);
    }
  }
}
