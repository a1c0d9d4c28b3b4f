import type { Action } from './action.ts';
import type { Check } from './agent-checks.ts';
import { AgentChecks } from './agent-checks.ts';
import type { FullAgentId } from './agent-id.ts';
import type { AgentLink, AgentUser } from './agent-link.ts';
import { AgentReports } from './agent-reports.ts';
import type { Answer } from './answer.ts';
import { awaitDecision } from './await-decision.ts';
import type { ChangedTool } from './changed-tool.ts';
import { wireChangeOf } from './changed-tool.ts';
import type { Completion } from './completion.ts';
import type { Credential } from './credential.ts';
import type { DelegateOptions, EnrolledDelegate, EnrollDelegateOptions } from './delegate-options.ts';
import { delegated } from './delegate-options.ts';
import { ReeveClosed, ReeveUnauthenticated } from './errors.ts';
import type { GatewayLink } from './gateway-link.ts';
import type { CallOptions } from './outage/retry.ts';
import type { GuardOptions } from './guard.ts';
import { guarded, requireNoGenerator } from './guard.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { LiveOperation } from './live-operation.ts';
import { onBehalfOf } from './on-behalf-of.ts';
import type { Operation, OperationControl } from './operation.ts';
import { controlledOperation } from './operation.ts';
import type { CheckDetails, PreparedCheck } from './prepare-check.ts';
import type { AgentStatus, Registration } from './registration.ts';
import type { AgentRequest, RpcMethod } from './rpc-methods.ts';
import { rpc } from './rpc-methods.ts';
import type { Work } from './run-action.ts';
import { runAction } from './run-action.ts';
import type { CheckOptions, RunOptions } from './run-options.ts';
import { howOf, rewritable, waitOf } from './run-options.ts';
import { opIdOf } from './trace-ids.ts';
import { warnOnce } from './warn-once.ts';

/** A registered agent. It asks before it acts and reports when it is done. An operator can stop it in between. */
export class Agent {
  readonly id: FullAgentId;
  /** False if the same identity was registered before. */
  readonly created: boolean;
  readonly #credential: Credential;
  readonly #heartbeatMs: number;
  readonly #link: GatewayLink;
  readonly #line: AgentLink;
  readonly #user: AgentUser;
  readonly #checks: AgentChecks;
  readonly #reports: AgentReports;
  readonly #stop: (why: Error) => void;
  #status: AgentStatus = { suspended: false, policyVersion: '' };
  #state: 'open' | 'deregistering' | 'closed' = 'open';
  #revoked = false;

  /** @internal */
  constructor(link: GatewayLink, registration: Registration) {
    const { id, token, life, created, heartbeatMs, shared, waitsOnly, nextToken, events } = registration;
    this.id = id;
    this.created = created;
    this.#heartbeatMs = heartbeatMs;
    this.#link = link;
    this.#line = link.agent(id);
    const credential = this.#line.credentialOf(token);
    this.#credential = credential;
    this.#checks = new AgentChecks(link, this.#line.ops, id, credential);
    this.#reports = new AgentReports(link, this.#line, id, credential);
    const stopBeating = startHeartbeat({
      intervalMs: heartbeatMs,
      beat: () => this.heartbeat(),
      onRevoked: (error) => this.#line.revoke(credential.token, error),
    });
    const forget = link.onClose(() => this.#stop(new ReeveClosed()));
    this.#stop = (why) => {
      stopBeating();
      forget();
      this.#line.leave(this.#user, why);
    };
    this.#user = {
      credential,
      nextToken,
      shared,
      waitsOnly,
      onControl: (control) => events.onControl?.(control),
      onConnection: (event) => {
        if (this.#state !== 'deregistering') (events.onConnection ?? ((unheard) => warnOnce(link, unheard)))(event);
      },
      onReportsDue: () => void this.heartbeat().catch(() => {}),
      onRevoked: () => {
        stopBeating();
        this.#revoked = true;
        // The order to stop may have come before the stream was open.
        if (registration.isDelegate) this.#line.ops.terminateAll('the delegation has ended');
        if (this.#state !== 'deregistering') events.onRevoked?.();
      },
    };
    this.#line.join(this.#user, created, life);
  }

  /** Whether an operator has suspended the agent, as of the last heartbeat. Its checks are then denied. */
  get suspended(): boolean {
    return this.#status.suspended;
  }

  /** The version of the policies in force, as of the last heartbeat. Empty before the first. */
  get policyVersion(): string {
    return this.#status.policyVersion;
  }

  /** Whether the gateway has stopped accepting the token. */
  get revoked(): boolean {
    return this.#revoked;
  }

  /**
   * The same agent, acting for a person or service: every check of it carries their JWT, unless a call has its own.
   * Closing either closes both.
   */
  onBehalfOf(subjectToken: string): Agent {
    return onBehalfOf(this, subjectToken);
  }

  /** Asks whether an action may happen. No answer in time means no. */
  async check(action: Action, options: CheckOptions = {}): Promise<Answer> {
    return this.#checks.check(this.#prepare(action, options), this.#link.limits(options));
  }

  /** Checks many actions at once. The gateway judges each on its own. Answers come in the order of the checks. */
  async checkMany(checks: readonly Check[], options: CallOptions = {}): Promise<Answer[]> {
    this.#requireOpen();
    return this.#checks.checkMany(checks, this.#link.limits(options));
  }

  /**
   * Asks as `check` does, and waits while the action is held, for as long as `waitMs` says. An action that is still held
   * then stays held: the answer is `pending`, and the same ids ask about it again.
   */
  async decision(action: Action, options: RunOptions = {}): Promise<Answer> {
    const check = this.#prepare(action, options);
    const ask = (op: LiveOperation) => this.#checks.ask(check, this.#link.limits(options), op);
    return awaitDecision({ opId: opIdOf(check.ids), ops: this.#line.ops, ask, wait: waitOf(options) });
  }

  /**
   * Checks an action, does it if it is allowed, and reports how it ended. `run` waits for a held action. It throws
   * `ActionDeniedError` if the action is denied or held for too long, `OperationTerminatedError` if an operator
   * terminated it, and `ResultDenied` if what it brought back must not be read. A report that cannot be delivered does not cost the result. The SDK sends it later.
   */
  async run<Result>(action: Action, work: Work<Result>, options: RunOptions = {}): Promise<Result> {
    const check = this.#prepare(action, rewritable(options, work));
    const opId = opIdOf(check.ids);
    const run = {
      opId,
      args: 'tool' in action && 'args' in action ? action.args : undefined,
      ops: this.#line.ops,
      ask: (op: LiveOperation) => this.#checks.ask(check, this.#link.limits(options), op),
      report: (completion: Completion) => this.#reports.report(opId, completion),
      results: this.#reports.results,
      ...howOf(options),
    };
    return runAction(run, work);
  }

  /**
   * Wraps the function so that each call is checked first, as an operation of the tool with the call's arguments.
   * Throws as `run` does. With `passOperation` the function gets the operation as its last argument.
   */
  guard<Args extends readonly unknown[], Result>(
    tool: string,
    fn: (...args: [...Args, Operation]) => Result | Promise<Result>,
    options: GuardOptions<Args> & { readonly passOperation: true },
  ): (...args: Args) => Promise<Result>;
  guard<Args extends readonly unknown[], Result>(
    tool: string,
    fn: (...args: Args) => Result | Promise<Result>,
    options?: GuardOptions<Args> & { readonly passOperation?: false | undefined },
  ): (...args: Args) => Promise<Result>;
  guard(
    tool: string,
    fn: (...args: never[]) => unknown,
    options: GuardOptions<never[]> & { readonly passOperation?: boolean | undefined } = {},
  ): (...args: never[]) => Promise<unknown> {
    const { passOperation = false } = options;
    requireNoGenerator(fn);
    const call = fn as (...args: readonly unknown[]) => unknown;
    const work = (args: never[], operation: Operation) => call(...args, ...(passOperation ? [operation] : []));
    return guarded((action, act, details) => this.run(action, act, details), tool, work, options);
  }

  /** The operation, if `check` allowed it or `run` is running it: its state, and how it is told to stop. */
  operation(opId: string): OperationControl | undefined {
    const op = this.#line.ops.find(opId);
    return op === undefined ? undefined : controlledOperation(op, this.#reports.results);
  }

  /** Reports that an allowed action has ended. For a terminated action, this reports that the work has stopped. */
  async complete(opId: string, completion: Completion = {}, options: CallOptions = {}): Promise<void> {
    await this.#reports.complete(opId, completion, this.#link.limits(options));
  }

  /** The tools of the source, of those named, that policy denies to this agent whatever their arguments. */
  async deniedTools(source: string, names: readonly string[], options: CallOptions = {}): Promise<readonly string[]> {
    const request = { toolSource: source, toolNames: [...names] };
    return (await this.#send(rpc.previewTools, request, options)).denied;
  }

  /** Records that tools are not defined as they were when somebody locked them. */
  async reportChangedTools(source: string, changed: readonly ChangedTool[], options: CallOptions = {}): Promise<void> {
    await this.#send(rpc.reportToolDefinitions, { toolSource: source, changed: changed.map(wireChangeOf) }, options);
  }

  /** Lets another agent of the team act for this one, within limits and for a time. Again replaces limits and token. */
  async delegate(options: DelegateOptions, call: CallOptions = {}): Promise<Agent> {
    const { id, token } = await this.enrollDelegate({ ...options, token: undefined }, call);
    const { shared = false, waitsOnly = false } = options;
    const acting = { shared, waitsOnly, events: options, heartbeatMs: this.#heartbeatMs };
    return new Agent(this.#link, { id, token, created: true, isDelegate: true, ...acting });
  }

  /** Delegates as `delegate` does, for others to act as the delegate, and returns its token. */
  async enrollDelegate(options: EnrollDelegateOptions, call: CallOptions = {}): Promise<EnrolledDelegate> {
    this.#requireOpen();
    return this.#credential.with((token) => delegated(this.#link, { id: this.id, token }, options, call));
  }

  /** Ends what was delegated to this child. Its token stops working, and its running operations are terminated. */
  async revokeDelegation(childId: string, call: CallOptions = {}): Promise<void> {
    await this.#send(rpc.revokeDelegation, { childId }, call);
  }

  /** Listens for controls anew, as after this process was stopped itself. Resolves once the gateway has accepted that. */
  async listenAnew(): Promise<void> {
    this.#requireOpen();
    await this.#line.renew();
  }

  /** Sends a heartbeat now. The regular ones go on by themselves. */
  async heartbeat(options: CallOptions = {}): Promise<AgentStatus> {
    const limits = this.#link.limits(options);
    const { suspended, policyVersion } = await this.#credential.with((credentialToken) =>
      this.#link.sendOnce(rpc.heartbeat, { agentId: { ...this.id }, credentialToken }, limits),
    );
    this.#status = { suspended, policyVersion };
    await this.#reports.deliverOwed();
    return this.#status;
  }

  /** Ends the registration. The token stops working and running operations are terminated. */
  async deregister(reason = '', options: CallOptions = {}): Promise<void> {
    const isDone = (error: unknown) => error instanceof ReeveUnauthenticated;
    await this.#line.flush();
    const before = this.#state;
    this.#state = 'deregistering';
    try {
      const limits = this.#link.limits(options);
      const request = { agentId: { ...this.id }, reason };
      await this.#credential.with((credentialToken) =>
        this.#link.tell(rpc.deregisterAgent, { ...request, credentialToken }, limits, isDone),
      );
    } catch (error) {
      this.#state = before;
      throw error;
    }
    this.#state = 'closed';
    this.#line.ops.terminateAll('the agent was deregistered');
    this.#stop(new ReeveClosed('agent'));
  }

  /** Ends heartbeats and control of this agent, once owed reports are told or the gateway is away. The registration stays. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    await this.#line.flush();
    await this.#reports.deliverOwed();
    this.#stop(new ReeveClosed('agent'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #send<Request extends AgentRequest, Response>(
    method: RpcMethod<Request, Response>,
    message: Omit<Request, keyof AgentRequest>,
    call: CallOptions,
  ): Promise<Response> {
    const limits = this.#link.limits(call);
    return this.#credential.with((credentialToken) =>
      this.#link.send(method, { ...message, agentId: { ...this.id }, credentialToken } as Request, limits),
    );
  }

  #prepare(action: Action, details: CheckDetails): PreparedCheck {
    this.#requireOpen();
    return this.#checks.prepare(action, details);
  }

  #requireOpen(): void {
    if (this.#state === 'closed') throw new ReeveClosed('agent');
  }
}
