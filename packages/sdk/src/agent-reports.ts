import type { FullAgentId } from './agent-id.ts';
import type { AgentLink } from './agent-link.ts';
import { AgentResults } from './agent-results.ts';
import type { Completion } from './completion.ts';
import { completionRequest } from './completion.ts';
import type { Credential } from './credential.ts';
import { ReeveInvalidTransition, ReeveOpNotFound, ReeveUnavailable } from './errors.ts';
import type { GatewayLink } from './gateway-link.ts';
import type { Limits } from './outage/retry.ts';
import { rpc } from './rpc-methods.ts';

/** Sends the reports of an agent's operations, and has judged what they bring back. */
export class AgentReports {
  readonly results: AgentResults;
  readonly #link: GatewayLink;
  readonly #line: Pick<AgentLink, 'ops' | 'missed'>;
  readonly #id: FullAgentId;
  readonly #credential: Credential;

  constructor(link: GatewayLink, line: Pick<AgentLink, 'ops' | 'missed'>, id: FullAgentId, credential: Credential) {
    this.results = new AgentResults(link, id, credential);
    this.#link = link;
    this.#line = line;
    this.#id = id;
    this.#credential = credential;
  }

  /** The report of callers that act by themselves. It also says that the work has stopped. */
  async complete(opId: string, completion: Completion, limits: Limits): Promise<void> {
    const request = completionRequest(this.#id, this.#credential.token, opId, completion);
    const op = this.#line.ops.find(opId);
    if (op !== undefined && !op.run) this.#line.ops.drop(op);
    // A terminated operation is over at the gateway. Only the end of its work remains to be reported.
    if (op?.terminated !== undefined) return op.told();
    this.#line.ops.ended(opId, completion);
    const isDone = (error: unknown) => error instanceof ReeveInvalidTransition;
    await this.#credential.with((credentialToken) =>
      this.#link.tell(rpc.completeAction, { ...request, credentialToken }, limits, isDone),
    );
  }

  /** The report of `run`. A failed report never costs a result. */
  async report(opId: string, completion: Completion): Promise<void> {
    try {
      await this.complete(opId, completion, this.#link.limits({}));
    } catch (error) {
      if (error instanceof ReeveUnavailable) {
        this.#line.ops.owed.add(opId, completion);
        this.#line.missed();
      }
      // The operation is over or paused. A control says which. After a pause, the report follows the resume.
      else if (!(error instanceof ReeveInvalidTransition || error instanceof ReeveOpNotFound)) throw error;
    }
  }

  /** Delivers the reports that the gateway could not take before. */
  async deliverOwed(): Promise<void> {
    await this.#line.ops.owed.deliver((opId, completion) => this.complete(opId, completion, this.#link.limits({})));
  }
}
