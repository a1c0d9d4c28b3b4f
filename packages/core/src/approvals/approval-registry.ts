import type { FindAccounts } from '../access/index.ts';
import type { Undo } from '../journal/index.ts';
import type { Clock, EpochMs, AgentId, AgentKey } from '../kernel/index.ts';
import type { Asking } from '../policy/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Approval } from './approval.ts';
import { isLive } from './approval.ts';
import type { ApprovalReader } from './approval-reader.ts';
import type { StandingGrant } from './grant.ts';
import { grantStateOf, suffices } from './grant.ts';

export interface ApprovalSettings {
  /** How long an approval may wait if its rule does not say. */
  readonly ttlMs: number;
  /** The gateway sends notifications about every approval. */
  readonly notifies: boolean;
}

/** What the grants of an action are looked up by. */
export type GrantSubject = Pick<StandingGrant, 'agent' | 'coverDigest'>;

/** What rules see of approvals. Only facts change them. */
export type KnownApprovals = Omit<ApprovalRegistry, 'place' | 'drop' | 'placeGrant' | 'dropGrant'>;

/** The approvals in memory that have something left to do, and the grants in force. */
export class ApprovalRegistry {
  readonly reader: ApprovalReader;
  readonly settings: ApprovalSettings;
  /** Reads the accounts of those who decide. */
  readonly findAccounts: FindAccounts;
  readonly #clock: Clock;
  readonly #live = new Map<string, Approval>();
  /** When open approvals fall due, on the monotonic clock. */
  readonly #dueAt = new Map<string, number>();
  readonly #byOp = new Map<string, string>();
  readonly #bySignal = new Map<string, string>();
  readonly #openOf = new Map<AgentKey, number>();
  readonly #grants = new Map<string, StandingGrant[]>();

  constructor(ports: {
    readonly reader: ApprovalReader;
    readonly clock: Clock;
    readonly settings: ApprovalSettings;
    readonly findAccounts?: FindAccounts | undefined;
  }) {
    this.reader = ports.reader;
    this.findAccounts = ports.findAccounts ?? (() => Promise.resolve([]));
    this.settings = ports.settings;
    this.#clock = ports.clock;
  }

  /** How many approvals wait for a verdict. */
  get openCount(): number {
    return this.#dueAt.size;
  }

  openCountOf(agent: AgentKey): number {
    return this.#openOf.get(agent) ?? 0;
  }

  find(id: string): Approval | undefined {
    return this.#live.get(id);
  }

  /**
   * The approval that an operation waits for, or by which it runs although its agent has not acknowledged that. One that
   * ended an operation is not found: another one may have its id.
   */
  ofOp(agent: AgentId, opId: string): Approval | undefined {
    return this.#live.get(this.#byOp.get(opName(agent, opId)) ?? '');
  }

  /** The approval whose outcome a message tells the agent. */
  ofSignal(agent: AgentId, sequence: number): Approval | undefined {
    return this.#live.get(this.#bySignal.get(signalName(agent, sequence)) ?? '');
  }

  /** Approvals with notifications to send, the longest unchanged first. */
  owing(): Approval[] {
    return [...this.#live.values()].filter(({ notices }) => notices.length > 0);
  }

  /** Updates memory to match an approval, and returns how to take that back. */
  place(approval: Approval): Undo {
    const { id, agent, opId } = approval;
    const name = opName(agent, opId);
    const before = this.#live.get(id);
    const dueAt = this.#dueAt.get(id);
    const ofOp = this.#byOp.get(name);
    this.#set(approval, dueAt);
    return () => {
      if (before === undefined) this.drop(id);
      else this.#set(before, dueAt);
      if (ofOp !== undefined && this.#live.has(ofOp)) this.#byOp.set(name, ofOp);
      else if (this.#byOp.get(name) === id) this.#byOp.delete(name);
    };
  }

  #set(approval: Approval, dueAt: number | undefined): void {
    const { id, agent, opId, signalSequence } = approval;
    this.drop(id);
    if (!isLive(approval)) return;
    this.#live.set(id, approval);
    if (approval.state === 'open') {
      const key = agentKey(agent);
      this.#openOf.set(key, this.openCountOf(key) + 1);
      this.#dueAt.set(id, dueAt ?? this.#clock.elapsed() + this.#timeLeft(approval));
    }
    const isUnderWay = approval.state === 'open' || (approval.state === 'approved' && signalSequence !== null);
    if (isUnderWay) this.#byOp.set(opName(agent, opId), id);
    if (signalSequence !== null) this.#bySignal.set(signalName(agent, signalSequence), id);
  }

  /** Removes an approval from memory. */
  drop(id: string): void {
    const known = this.#live.get(id);
    if (known === undefined) return;
    const { agent, opId, signalSequence } = known;
    this.#live.delete(id);
    if (this.#dueAt.delete(id)) {
      const key = agentKey(agent);
      const left = this.openCountOf(key) - 1;
      if (left > 0) this.#openOf.set(key, left);
      else this.#openOf.delete(key);
    }
    if (this.#byOp.get(opName(agent, opId)) === id) this.#byOp.delete(opName(agent, opId));
    if (signalSequence !== null) this.#bySignal.delete(signalName(agent, signalSequence));
  }

  /** Whether the time is over by either clock. A wall clock that is set back gives no extra time. */
  isDue({ id, expiresAt }: Approval): boolean {
    const dueAt = this.#dueAt.get(id);
    return this.#clock.now() >= expiresAt || (dueAt !== undefined && this.#clock.elapsed() >= dueAt);
  }

  /** The time left by the wall clock, so that a restart does not extend it. Never more than the original wait. */
  #timeLeft({ requestedAt, expiresAt }: Approval): number {
    return Math.min(expiresAt - requestedAt, Math.max(0, expiresAt - this.#clock.now()));
  }

  /** The open approvals whose time is over. */
  *due(): Generator<Approval> {
    for (const id of this.#dueAt.keys()) {
      const approval = this.#live.get(id);
      if (approval !== undefined && this.isDue(approval)) yield approval;
    }
  }

  /** Replaces a grant by its new version, and returns how to take that back. A revoked grant is removed. */
  placeGrant(grant: StandingGrant): Undo {
    const name = subjectName(grant);
    const before = this.#grants.get(name)?.find(({ id }) => id === grant.id);
    this.#setGrant(name, grant.id, grant.revokedAt === null ? grant : undefined);
    return () => this.#setGrant(name, grant.id, before);
  }

  dropGrant(grant: StandingGrant): void {
    this.#setGrant(subjectName(grant), grant.id, undefined);
  }

  #setGrant(name: string, grantId: string, grant: StandingGrant | undefined): void {
    const grants = (this.#grants.get(name) ?? []).filter(({ id }) => id !== grantId);
    if (grant !== undefined) grants.push(grant);
    if (grants.length > 0) this.#grants.set(name, grants);
    else this.#grants.delete(name);
  }

  /** The active grant that covers an action in its run, under all rules that ask. */
  grantFor(subject: GrantSubject, asking: Asking, runId: string, now: EpochMs): StandingGrant | undefined {
    const grants = this.#grants.get(subjectName(subject)) ?? [];
    return grants.find(
      (grant) =>
        grantStateOf(grant, now) === 'active' &&
        (grant.reach === 'until' || grant.runId === runId) &&
        suffices(grant, asking),
    );
  }

  /** A grant in force, by its id. */
  findGrant(id: string): StandingGrant | undefined {
    for (const grants of this.#grants.values()) {
      const found = grants.find((grant) => grant.id === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Removes expired grants. */
  forgetExpiredGrants(): void {
    const now = this.#clock.now();
    for (const grants of [...this.#grants.values()]) {
      for (const grant of grants) if (grantStateOf(grant, now) === 'expired') this.dropGrant(grant);
    }
  }
}

function opName(agent: AgentId, opId: string): string {
  return `${agentKey(agent)}/${opId}`;
}

function signalName(agent: AgentId, sequence: number): string {
  return `${agentKey(agent)}#${sequence}`;
}

function subjectName({ agent, coverDigest }: GrantSubject): string {
  return `${agentKey(agent)} ${coverDigest}`;
}
