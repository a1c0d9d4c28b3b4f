import type { OpControlMessage } from '@reeve/contract';
import {
  AckOpControlRequest_Evidence as WireEvidence,
  AckOpControlRequest_Outcome as WireOutcome,
} from '@reeve/contract';
import type { AckOutcome, AckWord } from './outage/ack-queue.ts';
import { AckQueue } from './outage/ack-queue.ts';
import type { FullAgentId } from './agent-id.ts';
import { AgentOps } from './agent-ops.ts';
import type { StreamEvents } from './channel.ts';
import type { ConnectionEvent } from './connection-event.ts';
import type { Control } from './control.ts';
import type { TokenLife, TokenNeed } from './credential.ts';
import { Credential } from './credential.ts';
import type { Subscription } from './outage/control-stream.ts';
import { ControlStream } from './outage/control-stream.ts';
import { ReevePermissionDenied, ReeveUnauthenticated } from './errors.ts';
import { rpc } from './rpc-methods.ts';
import { isToldLater } from './outage/outage.ts';
import type { Limits } from './outage/retry.ts';
import { notify } from './notify.ts';
import type { ProcessHold } from './process-hold.ts';
import type { Settings } from './connect-options.ts';
import type { RpcMethod } from './rpc-methods.ts';

/** A user that acts as the agent with a token. */
export interface AgentUser {
  readonly credential: Credential;
  /** Gives another token, where tokens come from somewhere else than the gateway. */
  readonly nextToken: ((token: string, need: TokenNeed) => Promise<string | undefined>) | undefined;
  /** Whether other processes act as the same agent. */
  readonly shared: boolean;
  /** Whether it waits for answers to its checks, and carries out no controls. */
  readonly waitsOnly: boolean;
  readonly onControl: (control: Control) => void;
  readonly onConnection: (event: ConnectionEvent) => void;
  /** The gateway is back, or it now accepts a report that it refused before. */
  readonly onReportsDue: () => void;
  /** The gateway no longer accepts the token. */
  readonly onRevoked: () => void;
}

const outcomes: Readonly<Record<AckOutcome, WireOutcome>> = {
  received: WireOutcome.RECEIVED,
  failed: WireOutcome.FAILED,
  effective: WireOutcome.EFFECTIVE,
};

/** The part of the link to the gateway that an agent needs. */
export interface LinkOfAgent {
  readonly settings: Settings;
  readonly hold: ProcessHold;
  /** Of the gateway in use. */
  readonly address: string;
  limits(options: object): Limits;
  send<Request, Response>(method: RpcMethod<Request, Response>, message: Request, limits: Limits): Promise<Response>;
  sendOnce<Request, Response>(
    method: RpcMethod<Request, Response>,
    message: Request,
    limits: Limits,
  ): Promise<Response>;
  subscribe<Request>(method: RpcMethod<Request, unknown>, message: Request, events: StreamEvents): Subscription;
  forgetAgent(id: FullAgentId, link: AgentLink): void;
}

/**
 * Everything a client holds for one agent, however often it registers or attaches the agent: one control stream with
 * the newest token, the operations, and the reports owed. So a new registration keeps operations under control.
 */
export class AgentLink {
  readonly ops: AgentOps;
  readonly #id: FullAgentId;
  readonly #link: LinkOfAgent;
  readonly #acks: AckQueue;
  readonly #stream: ControlStream;
  #users: AgentUser[] = [];
  /** The token of the open stream. */
  #token = '';
  #heard: 'nothing' | 'connected' | 'lost' = 'nothing';
  #everConnected = false;
  /** Those who wait for another stream than the one that there was. */
  #renewing: (() => void)[] = [];

  constructor(link: LinkOfAgent, id: FullAgentId) {
    const { retry } = link.settings;
    this.#id = id;
    this.#link = link;
    this.#acks = new AckQueue((ack) => this.#acknowledge(ack), retry);
    this.#stream = new ControlStream((events) => this.#subscribe(events), retry, {
      onMessage: (message) => this.#take(message),
      onOpen: (from) => this.#connected(from),
      onLost: (reason, from) => this.#lost(reason, from),
      onRefused: (why, reason, from) =>
        why === 'unsupported'
          ? this.#unsupported(reason, from)
          : void this.#refused(this.#token, new ReeveUnauthenticated(reason)),
    });
    this.ops = new AgentOps(link.hold, this.#acks, () => this.#forgetIfUnused());
  }

  /** The credential of a token: one for all who act with it, so that it is renewed once. */
  credentialOf(token: string): Credential {
    return (
      this.credentialThatHad(token) ??
      new Credential(token, {
        next: (old, need) => this.#nextToken(old, need),
        onReplaced: (old) => {
          if (this.#token === old) this.#stream.open();
        },
      })
    );
  }

  /**
   * The credential whose token this is, or was before it was renewed here. Where others hold a token, too, whoever comes
   * with a former one must show the gateway that it still counts.
   */
  credentialThatHad(token: string): Credential | undefined {
    const isOf = ({ credential, shared }: AgentUser) =>
      credential.token === token || (!shared && credential.had(token));
    return this.#users.find(isOf)?.credential;
  }

  /**
   * `fresh`: the gateway did not know the agent before, so its controls count from the start. `life` is that of the token,
   * if it ends. A token that others hold, too, is theirs to renew, unless they all get the new one.
   */
  join(user: AgentUser, fresh: boolean, life: TokenLife | undefined): void {
    this.#users.push(user);
    const isRenewed = !user.shared || user.nextToken !== undefined;
    if (life !== undefined && isRenewed) user.credential.renewBefore(life);
    if (fresh) this.ops.countAnew();
    this.ops.lost = undefined;
    this.ops.deaf = false;
    this.#stream.open();
    this.#acks.wake();
  }

  leave(user: AgentUser, why: Error): void {
    if (!this.#users.includes(user)) return;
    this.#users = this.#users.filter((other) => other !== user);
    const { credential } = user;
    if (!this.#users.some((other) => other.credential === credential)) credential.stop();
    this.#goOn(credential.token, why);
  }

  revoke(token: string, why: ReeveUnauthenticated): void {
    const isOf = ({ credential }: AgentUser) => credential.token === token;
    const gone = this.#users.filter(isOf);
    this.#users = this.#users.filter((user) => !isOf(user));
    for (const { credential } of gone) credential.stop();
    this.#goOn(token, why);
    const { address } = this.#link;
    for (const user of gone) {
      notify(user.onConnection, { type: 'ended', address, reason: why.message });
      notify(user.onRevoked, undefined);
    }
  }

  /** The client has gone on to another gateway. */
  follow(): void {
    this.#stream.follow();
  }

  /** Opens another stream in place of the one that there is. Resolves once a gateway has accepted one, or none will come. */
  renew(): Promise<void> {
    const renewed = new Promise<void>((resolve) => this.#renewing.push(resolve));
    this.#stream.open();
    return renewed;
  }

  /** The gateway missed a report. If it has come back since the last attempt, the report need not wait for a heartbeat. */
  missed(): void {
    if (this.#heard === 'connected') this.#reportsDue();
  }

  /** Waits until all acknowledgements are delivered, or the gateway is out of reach. */
  flush(): Promise<void> {
    return this.#acks.flush();
  }

  async #nextToken(old: string, need: TokenNeed): Promise<string | undefined> {
    const users = this.#users.filter(({ credential }) => credential.token === old);
    const source = users.findLast(({ nextToken }) => nextToken !== undefined)?.nextToken;
    if (source !== undefined) return source(old, need);
    // It would end for those in other processes.
    if (need !== 'due' || users.some(({ shared }) => shared)) return undefined;
    const request = { agentId: { ...this.#id }, credentialToken: old };
    return (await this.#link.send(rpc.renewToken, request, this.#link.limits({}))).credentialToken;
  }

  /** The gateway has refused the stream. */
  async #refused(token: string, why: ReeveUnauthenticated): Promise<void> {
    const isReplaced = (await this.credentialThatHad(token)?.isReplaced(token, 'report')) ?? false;
    if (!isReplaced) this.revoke(token, why);
    else if (this.#token === token) this.#stream.open();
  }

  /** The token that left may have been the token of the stream. */
  #goOn(token: string, why: Error): void {
    if (this.#users.length > 0) {
      if (token === this.#token) this.#stream.open();
      return;
    }
    this.#stream.close();
    this.#renewed();
    this.#acks.rest();
    this.ops.lose(why);
    this.#forgetIfUnused();
  }

  #forgetIfUnused(): void {
    if (this.#users.length === 0 && this.ops.idle) this.#link.forgetAgent(this.#id, this);
  }

  #subscribe(events: StreamEvents): Subscription {
    this.#token = this.#users.at(-1)?.credential.token ?? '';
    const request = {
      agentId: { ...this.#id },
      credentialToken: this.#token,
      afterSequence: this.ops.cursor,
      waitsOnly: this.#users.every((user) => user.waitsOnly),
    };
    return this.#link.subscribe(rpc.opControlStream, request, events);
  }

  #take(message: OpControlMessage): void {
    // Who carries out no controls cannot say either that nothing is running.
    const shared = this.#users.every((user) => user.shared || user.waitsOnly);
    const control = this.ops.take(message, shared);
    if (control === undefined) return;
    if (this.ops.owed.some) this.#reportsDue();
    for (const user of this.#users) notify(user.onControl, control);
  }

  #connected(address: string): void {
    const again = this.#everConnected;
    this.#heard = 'connected';
    this.#everConnected = true;
    this.#acks.wake();
    if (again) {
      this.ops.askAgain();
      this.#reportsDue();
    }
    this.#tell({ type: 'connected', address, again });
    this.#renewed();
  }

  #renewed(): void {
    for (const resolve of this.#renewing.splice(0)) resolve();
  }

  #lost(reason: string, address: string): void {
    if (this.#heard === 'lost') return;
    this.#heard = 'lost';
    this.#tell({ type: 'lost', address, reason });
  }

  #unsupported(reason: string, address: string): void {
    this.ops.deaf = true;
    this.ops.askAgain();
    this.#tell({ type: 'unsupported', address, reason });
    this.#renewed();
  }

  #reportsDue(): void {
    const newest = this.#users.at(-1);
    if (newest !== undefined) notify(newest.onReportsDue, undefined);
  }

  #tell(event: ConnectionEvent): void {
    for (const user of this.#users) notify(user.onConnection, event);
  }

  async #acknowledge(ack: AckWord): Promise<'told' | 'later'> {
    const { sequence, outcome, detail, word } = ack;
    const credential = this.#users.at(-1)?.credential;
    if (credential === undefined) return 'later';
    const said = { agentId: { ...this.#id }, sequence, outcome: outcomes[outcome], detail };
    const request = word === undefined ? said : { ...said, evidence: WireEvidence.KERNEL, processes: word.processes };
    try {
      const limits = this.#link.limits({});
      await credential.with((credentialToken) =>
        this.#link.sendOnce(rpc.ackOpControl, { ...request, credentialToken }, limits),
      );
      return 'told';
    } catch (error) {
      // The gateway may not know that the kernel holds the operation, if it was an older one that was asked.
      if (error instanceof ReevePermissionDenied && word !== undefined) {
        return this.#acknowledge({ ...ack, word: undefined });
      }
      return isToldLater(error) ? 'later' : 'told';
    }
  }
}
