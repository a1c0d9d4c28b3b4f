import type {
  Access,
  AuditReader,
  Batch,
  Change,
  Commit,
  DomainEvent,
  Governance,
  ResultPorts,
  Sharing,
  Store,
  Unread,
} from '@reeve/core';
import {
  Authenticator,
  emptyGovernance,
  factsOn,
  executorOf,
  factsNeededFrom,
  followCommit,
  Journal,
  judgeResult,
  LeftAgentsSweep,
  Listening,
  loadPolicies,
  OpsCheckpoint,
  prepareToFollow,
  recover,
  ReservationReaper,
  sealer,
  StaleWatch,
} from '@reeve/core';
import { utf8 } from '../../packages/gateway/src/adapters/system/utf8.ts';
import { conditions } from './conditions.ts';
import { noMint } from './no-mint.ts';
import { findAccounts, findRoles, virtualIssuer } from './people.ts';
import { namedRandomness, sha256 } from './random.ts';
import type { Release } from './releases.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Short, so that much of it happens in a simulation. */
export const settings = {
  opsTtlMs: 8000,
  runTtlMs: 12_000,
  sweepTickMs: 2000,
  pendingTtlMs: 20_000,
  silentMs: 6000,
  leaseMs: 16_000,
  control: { ackMs: 3000, strict: false },
  approvals: { ttlMs: 20_000, notifies: false },
} as const;

/** What a gateway stands on: the store, and the log of others if it is shared. */
export interface Ground {
  readonly store: Store;
  commit(batch: Batch): void | Promise<void>;
  /** The log as it is read beside decisions. */
  readonly log: AuditReader;
  /** Does something in another thread. */
  aside<Result>(work: () => Result): Promise<Result>;
  readonly sharing?: LogOfOthers;
  /** Which release runs on it, if not the present one. */
  readonly release?: Release;
}

interface LogOfOthers {
  ready(): readonly Commit[];
  read(): Promise<readonly Commit[]>;
  lock(): Promise<readonly Commit[]> | undefined;
}

export interface GatewayParts<Under extends Ground> {
  readonly name: string;
  readonly ground: Under;
  readonly clock: VirtualClock;
  /** The files that every gateway is started with. */
  readonly policy: string;
  /** Called with what ends the gateway. */
  readonly onFailed: (error: unknown) => void;
}

/** A gateway without its transports: the core, put together as the wiring does, on a log that a step moves on. */
export class VirtualGateway<Under extends Ground = Ground> {
  readonly name: string;
  readonly gov: Governance;
  readonly access: Access;
  readonly authenticator: Authenticator;
  readonly clock: VirtualClock;
  readonly ground: Under;
  readonly checkpoint: OpsCheckpoint;
  readonly stale: StaleWatch;
  readonly reaper: ReservationReaper;
  readonly leftAgents: LeftAgentsSweep;
  readonly listening: Listening;
  readonly execute: ReturnType<typeof executorOf>;
  readonly results: ResultPorts;
  /** Work that callers wait for. */
  busy = 0;
  isUp = false;
  readonly #due: (() => void)[];

  private constructor(
    { name, clock, ground }: GatewayParts<Under>,
    gov: Governance,
    access: Access,
    due: (() => void)[],
  ) {
    this.name = name;
    this.gov = gov;
    this.access = access;
    this.clock = clock;
    this.ground = ground;
    this.authenticator = new Authenticator(access, { findLogin: () => Promise.resolve(undefined), findRoles });
    this.execute = executorOf(gov);
    this.results = resultPorts(gov, ground);
    const { opsTtlMs, sweepTickMs, silentMs, leaseMs } = settings;
    this.checkpoint = new OpsCheckpoint(gov, sweepTickMs, opsTtlMs, Math.max(sweepTickMs, opsTtlMs));
    this.listening = new Listening(clock);
    this.stale = new StaleWatch(gov, silentMs, this.listening);
    this.reaper = new ReservationReaper(gov, leaseMs, this.listening);
    this.leftAgents = new LeftAgentsSweep(gov);
    this.#due = due;
  }

  /** Restores everything from the store. Its policies are in force once a few more steps have passed. */
  static async start<Under extends Ground>(parts: GatewayParts<Under>): Promise<VirtualGateway<Under>> {
    const { name, ground, clock, onFailed } = parts;
    const { store, sharing: others } = ground;
    const snapshot = await store.load();
    const due: (() => void)[] = [];
    const faulty = (faults: readonly Unread[]) => {
      if (faults.length > 0) onFailed(new Error(`cannot follow: ${faults[0]?.why}`));
    };
    const sharing: Sharing<Change, DomainEvent> | undefined = others && {
      ready: () => others.ready(),
      read: () => others.read(),
      lock: () => others.lock(),
      prepare: (commits) => prepareToFollow(gov, commits),
      // What a release does not know is expected. What it knows, it can apply.
      follow: (commit) => faulty(followCommit(gov, commit).filter((fault) => !commit.unread.includes(fault))),
      failed: onFailed,
    };
    const journal = new Journal<Change, DomainEvent>(
      {
        commit: (batch) => ground.commit(batch),
        soon: (flush) => due.push(flush),
        seal: sealer(sha256),
        ...factsOn(() => gov),
        publish: (events) => gateway?.gov.balances.follow(events),
        onCommit: () => undefined,
        onError: onFailed,
        ...(sharing === undefined ? {} : { sharing }),
      },
      snapshot.head,
    );
    let gateway: VirtualGateway<Under> | undefined;
    const release = journal.hold();
    const randomness = namedRandomness(name);
    const gov = emptyGovernance(
      {
        store,
        journal,
        clock,
        randomness,
        sha256,
        policyFeatures: conditions,
        subjects: virtualIssuer(),
        findAccounts,
        readCredentials: async () => {
          await journal.committed();
          return await store.load();
        },
        agentBounds: { agents: 10_000, bytes: 64 * 1024 * 1024 },
        mostActionMicros: 1_000_000_000,
        opsTtlMs: settings.opsTtlMs,
        runTtlMs: settings.runTtlMs,
        opsSeed: 0,
        control: settings.control,
        approvals: settings.approvals,
        onControlStep: () => undefined,
      },
      snapshot,
    );
    const access: Access = {
      clock,
      randomness,
      sha256,
      journal,
      keys: gov.keys,
      callers: gov.callers,
      signingKeys: gov.callers.signingKeys,
      mint: noMint,
      tokenTtlMs: 60_000,
      ended: gov.ended,
    };
    await recover(gov, snapshot, store, (unread) => faulty([unread]));
    faulty(snapshot.unread);
    gateway = new VirtualGateway(parts, gov, access, due);
    release();
    void gateway.#load(parts);
    return gateway;
  }

  /** A gateway serves once its files are in force. If the database is away, it goes on trying. */
  async #load(parts: GatewayParts<Under>): Promise<void> {
    while (!this.isUp) {
      const loading = loadPolicies(this.gov, [{ file: 'policy.yaml', text: parts.policy }], conditions);
      const problems = await this.during(loading).catch(() => undefined);
      if (problems !== undefined) this.isUp = true;
      if (problems?.[0] !== undefined) parts.onFailed(new Error(`the policy is wrong: ${JSON.stringify(problems[0])}`));
    }
  }

  /** Removes some of the facts that no start needs. */
  forgetFacts(): void {
    void this.ground.store.forgetFacts(factsNeededFrom(this.gov, this.checkpoint.replayFrom), 50);
  }

  /** Whether nothing is under way: memory is what the log says. */
  get isIdle(): boolean {
    return this.busy === 0 && this.#due.length === 0;
  }

  /** Whether a turn waits for its end. */
  get hasTurn(): boolean {
    return this.#due.length > 0;
  }

  /** Ends the turn of the event loop. */
  endTurn(): void {
    for (const flush of this.#due.splice(0)) flush();
  }

  during<Result>(work: Promise<Result>): Promise<Result> {
    this.busy++;
    const done = () => {
      this.busy--;
    };
    work.then(done, done);
    return work;
  }
}

/** What the rules on a result may cost aside from decisions. */
const asideCost = 100_000_000;

function resultPorts(gov: Governance, ground: Ground): ResultPorts {
  return {
    log: ground.log,
    utf8,
    judgeAside: (result, { now, run, spends }) => {
      const spendOf = (party: (typeof result.parties)[number]) => {
        const found = spends[result.parties.indexOf(party)];
        if (found === undefined) throw new Error('nobody has said what this party spent');
        return found;
      };
      const judge = { policies: gov.policies, sha256, ...utf8, costOf: () => asideCost };
      return ground.aside(() => judgeResult(judge, result, { now, run: () => run, spendOf }));
    },
  };
}
