import type { Clock, EpochMs, AgentId, AgentKey } from '../kernel/index.ts';
import type { Asking } from '../policy/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Approval } from './approval.ts';
import { isLive } from './approval.ts';
import type { ApprovalReader } from './approval-reader.ts';
import type { StandingGrant } from './grant.ts';
import { grantStateOf, suffices } from './grant.ts';

export interface ApprovalSettings {
  /** How long an approval may wait where its rule does not say. */
  readonly ttlMs: number;
  /** Somebody is told of every approval, outside of the gateway. */
  readonly notifies: boolean;
}

/** Which grant covers an action. */
export type GrantSubject = Pick<StandingGrant, 'agent' | 'coverDigest'>;

/**
 * Approvals in memory that still have something to do, and the grants in force. It holds what is true; the use cases
 * beside it write the same facts to the journal.
 */
export class ApprovalRegistry {
  readonly reader: ApprovalReader;
  readonly settings: ApprovalSettings;
  readonly #clock: Clock;
  readonly #live = new Map<string, Approval>();
  /** Until when the open ones wait, on the clock that never jumps. */
  readonly #dueAt = new Map<string, number>();
  readonly #byOp = new Map<string, string>();
  readonly #bySignal = new Map<string, string>();
  readonly #openOf = new Map<AgentKey, number>();
  readonly #grants = new Map<string, StandingGrant[]>();

  constructor(ports: {
    readonly reader: ApprovalReader;
    readonly clock: Clock;
    readonly settings: ApprovalSettings;
  }) {
    this.reader = ports.reader;
    this.settings = ports.settings;
    this.#clock = ports.clock;
  }

  /** How many wait for a verdict. */
  get openCount(): number {
    return this.#dueAt.size;
  }

  openCountOf(agent: AgentKey): number {
    return this.#openOf.get(agent) ?? 0;
  }

  find(id: string): Approval | undefined {
    return this.#live.get(id);
  }

  /** The approval that an operation waits for, or whose outcome its agent has not acknowledged. */
  ofOp(agent: AgentId, opId: string): Approval | undefined {
    return this.#live.get(this.#byOp.get(opName(agent, opId)) ?? '');
  }

  /** The approval that a message to an agent tells the outcome of. */
  ofSignal(agent: AgentId, sequence: number): Approval | undefined {
    return this.#live.get(this.#bySignal.get(signalName(agent, sequence)) ?? '');
  }

  /** Those that still have to be told to somebody, the oldest first. */
  owing(): Approval[] {
    return [...this.#live.values()].filter(({ notices }) => notices.length > 0);
  }

  /** Makes memory agree with an approval. */
  place(approval: Approval): void {
    const { id, agent, opId, signalSequence } = approval;
    const dueAt = this.#dueAt.get(id);
    this.drop(id);
    if (!isLive(approval)) return;
    this.#live.set(id, approval);
    if (approval.state === 'open') {
      const key = agentKey(agent);
      this.#openOf.set(key, this.openCountOf(key) + 1);
      this.#dueAt.set(id, dueAt ?? this.#clock.elapsed() + this.#timeLeft(approval));
    }
    if (approval.state === 'open' || signalSequence !== null) this.#byOp.set(opName(agent, opId), id);
    if (signalSequence !== null) this.#bySignal.set(signalName(agent, signalSequence), id);
  }

  /** Takes an approval out of memory. */
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

  /** Its time is over, by whichever clock: one that is set back gives nobody more of it. */
  isDue({ id, expiresAt }: Approval): boolean {
    const dueAt = this.#dueAt.get(id);
    return this.#clock.now() >= expiresAt || (dueAt !== undefined && this.#clock.elapsed() >= dueAt);
  }

  /** By the wall clock, so that a restart does not extend it; never more than it had at first. */
  #timeLeft({ requestedAt, expiresAt }: Approval): number {
    return Math.min(expiresAt - requestedAt, Math.max(0, expiresAt - this.#clock.now()));
  }

  /** The open ones whose time is over. */
  *due(): Generator<Approval> {
    for (const id of this.#dueAt.keys()) {
      const approval = this.#live.get(id);
      if (approval !== undefined && this.isDue(approval)) yield approval;
    }
  }

  /** Puts a grant in the place of what it was; one that is revoked leaves. */
  placeGrant(grant: StandingGrant): void {
    this.dropGrant(grant);
    if (grant.revokedAt !== null) return;
    const name = subjectName(grant);
    this.#grants.set(name, [...(this.#grants.get(name) ?? []), grant]);
  }

  dropGrant(grant: StandingGrant): void {
    const name = subjectName(grant);
    const left = (this.#grants.get(name) ?? []).filter(({ id }) => id !== grant.id);
    if (left.length > 0) this.#grants.set(name, left);
    else this.#grants.delete(name);
  }

  /** The grant that covers an action now, in its run, under all rules that ask. */
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

  /** Lets go of grants that have expired. */
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
