import type { FullAgentId } from './agent-id.ts';
import type { AgentOps } from './agent-ops.ts';
import type { Completion } from './completion.ts';
import { completionRequest } from './completion.ts';
import { ReeveInvalidTransition, ReeveOpNotFound, ReeveUnavailable } from './errors.ts';
import type { GatewayLink } from './gateway-link.ts';
import type { Limits } from './outage/retry.ts';
import { rpc } from './rpc-methods.ts';

/** What an agent reports of its operations. */
export class AgentReports {
  readonly #link: GatewayLink;
  readonly #ops: AgentOps;
  readonly #id: FullAgentId;
  readonly #token: string;

  constructor(link: GatewayLink, ops: AgentOps, id: FullAgentId, token: string) {
    this.#link = link;
    this.#ops = ops;
    this.#id = id;
    this.#token = token;
  }

  /** The report of those who act by themselves: it also tells that the work has stopped. */
  async complete(opId: string, completion: Completion, limits: Limits): Promise<void> {
    const request = completionRequest(this.#id, this.#token, opId, completion);
    const op = this.#ops.find(opId);
    if (op !== undefined && !op.run) this.#ops.drop(op);
    // A terminated operation is over at the gateway: that its work has stopped is all there is to tell.
    if (op?.terminated !== undefined) return op.told();
    this.#ops.ended(opId, completion);
    const isDone = (error: unknown) => error instanceof ReeveInvalidTransition;
    await this.#link.tell(rpc.completeAction, request, limits, isDone);
  }

  /** The report of `run`: it costs nobody a result. */
  async report(opId: string, completion: Completion): Promise<void> {
    try {
      await this.complete(opId, completion, this.#link.limits({}));
    } catch (error) {
      if (error instanceof ReeveUnavailable) this.#ops.owed.add(opId, completion);
      // It is over already, or paused, which is told by a control: then the report follows once it is resumed.
      else if (!(error instanceof ReeveInvalidTransition || error instanceof ReeveOpNotFound)) throw error;
    }
  }

  /** Whatever the gateway could not be told before. */
  async deliverOwed(): Promise<void> {
    await this.#ops.owed.deliver((opId, completion) => this.complete(opId, completion, this.#link.limits({})));
  }
}
