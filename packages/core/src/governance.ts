import type { FindAccounts, Issuers, ReadCredentials, SubjectIssuer } from './access/index.ts';
import { Callers, EndedCredentials, KeyRing, SigningKeyRing } from './access/index.ts';
import type { ApprovalSettings } from './approvals/index.ts';
import { ApprovalRegistry, endApprovalOf, noteSignalled, watchedApprovals } from './approvals/index.ts';
import { BalanceKeeper, budgetPolicy, Ledger, noBalancesMark, noBudgets } from './budget/index.ts';
import { RateCounters, RateKeeper, watchedLedger, watchedRates } from './budget/index.ts';
import type { ControlReactions, ControlSettings, OnControlStep } from './control/index.ts';
import {
  closeOutbox,
  ControlRegistry,
  forgiveStops,
  noteDeparture,
  wakeOps,
  watchedControls,
} from './control/index.ts';
import type { Decisions } from './decision/index.ts';
import { HeldRewrites } from './decision/index.ts';
import { endOpsOf, isOver, OpsRegistry, watchedOps } from './ops/index.ts';
import type { PolicyFeatures } from './policy/index.ts';
import { PolicyRegistry, PolicySet, policyVersion } from './policy/index.ts';
import { RunKeeper, RunRegistry, watchedRuns } from './runs/index.ts';
import type { Journal, Snapshot, Store } from './store.ts';
import type { WorkloadIssuer } from './tenancy/index.ts';
import { AgentDirectory, ReportedTools, watchedAgents, watchedReports, Workloads } from './tenancy/index.ts';

/**
 * Everything the use cases work on: the gateway's state in memory, the journal that makes it durable, and the ports.
 */
export interface Governance extends Decisions {
  /** For facts. Rules see less of these. */
  readonly callers: Callers;
  readonly directory: AgentDirectory;
  readonly reportedTools: ReportedTools;
  readonly workloads: Workloads;
  readonly ops: OpsRegistry;
  readonly ledger: Ledger;
  policies: PolicySet;
  readonly policyRegistry: PolicyRegistry;
  /** What happened in runs, and what saves it. */
  readonly runs: RunRegistry;
  readonly runKeeper: RunKeeper;
  readonly control: ControlRegistry;
  readonly keys: KeyRing;
  readonly approvals: ApprovalRegistry;
  /** Saves what was spent. */
  readonly balances: BalanceKeeper;
  /** What counts for rates, and what saves it. */
  readonly rates: RateCounters;
  readonly rateKeeper: RateKeeper;
  /** Tells long-lived connections that a credential has ended. */
  readonly ended: EndedCredentials;
  readonly journal: Journal;
}

/** What a governance gets from outside. */
export interface GovernancePorts
  extends Pick<Governance, 'journal' | 'clock' | 'randomness' | 'sha256' | 'agentBounds' | 'mostActionMicros'> {
  readonly store: Store;
  readonly policyFeatures: PolicyFeatures;
  /** Who vouches for users. Nobody if absent. */
  readonly subjects?: Issuers<SubjectIssuer>;
  readonly opsTtlMs: number;
  /** For how long a run is known after the last that happened in it. */
  readonly runTtlMs: number;
  /** A number that agents cannot guess. */
  readonly opsSeed: number;
  readonly control: ControlSettings;
  readonly approvals: ApprovalSettings;
  readonly onControlStep: OnControlStep;
  /** Whose JWTs are credentials of agents. Without them, none are. */
  readonly workloads?: Issuers<WorkloadIssuer>;
  /** For a gateway that follows others. */
  readonly readCredentials?: ReadCredentials;
  /** For a gateway that has accounts. */
  readonly findAccounts?: FindAccounts | undefined;
}

/** All features, empty but for the credentials. `recover.ts` restores the rest. */
export function emptyGovernance(
  ports: GovernancePorts,
  { apiKeys, signingKeys, balancesMark }: Pick<Snapshot, 'apiKeys' | 'signingKeys' | 'balancesMark'>,
): Governance {
  const { store, journal, clock, randomness, sha256, agentBounds, mostActionMicros } = ports;
  const directory = new AgentDirectory(journal.isShared);
  const ops = new OpsRegistry(clock, ports.opsTtlMs, journal.isShared, ports.opsSeed);
  const keys = new KeyRing(clock, sha256, apiKeys);
  const { timeZone } = balancesMark ?? noBalancesMark;
  const parts: Parts = {
    keys,
    callers: new Callers(clock, keys, new SigningKeyRing(signingKeys), ports.readCredentials),
    directory,
    reportedTools: new ReportedTools(clock),
    workloads: new Workloads(ports.workloads ?? { trusted: [] }, sha256),
    agentBounds,
    ops,
    ledger: new Ledger(clock, budgetPolicy({ ...noBudgets, timeZone })),
    mostActionMicros,
    rates: new RateCounters(),
    runs: new RunRegistry(ports.runTtlMs),
    rewrites: new HeldRewrites(),
    subjects: ports.subjects ?? { trusted: [] },
    control: new ControlRegistry({
      clock,
      reader: store,
      settings: ports.control,
      onStep: ports.onControlStep,
    }),
    approvals: new ApprovalRegistry({
      reader: store.approvals,
      clock,
      settings: ports.approvals,
      findAccounts: ports.findAccounts,
    }),
    journal,
    clock,
    randomness,
    sha256,
    policies: new PolicySet([], policyVersion(sha256, [])),
    policyRegistry: new PolicyRegistry(store.policies, ports.policyFeatures),
    ended: new EndedCredentials(),
  };
  return withReactions(journal.isShared ? watchedParts(parts) : parts);
}

type Parts = Omit<Governance, 'reactions' | 'balances' | 'rateKeeper' | 'runKeeper'>;

/**
 * Where other gateways write to the same log, reading notes what a turn rests on. Alone, nothing does. Not watched:
 * credentials, which the warrant of a turn asks about, and policies, which change with an org or with everything.
 */
function watchedParts(parts: Parts): Parts {
  const { journal } = parts;
  return {
    ...parts,
    directory: watchedAgents(parts.directory, journal),
    ops: watchedOps(parts.ops, journal),
    ledger: watchedLedger(parts.ledger, journal),
    rates: watchedRates(parts.rates, journal),
    runs: watchedRuns(parts.runs, journal),
    control: watchedControls(parts.control, journal),
    approvals: watchedApprovals(parts.approvals, journal),
    reportedTools: watchedReports(parts.reportedTools, journal),
  };
}

/** The reactions run in this order, in the same turn, before the commit. */
function withReactions(parts: Parts): Governance {
  const reactions: ControlReactions = {
    agentBack: [(agent) => wakeOps(gov, agent)],
    agentLeaving: [
      (left) => endOpsOf(gov, left),
      ({ agent }) => closeOutbox(gov, agent),
      ({ agent }) => noteDeparture(gov, agent),
    ],
    delegateGaveWay: [(agent) => forgiveStops(gov, agent)],
    opMoved: [
      (moved) => endApprovalOf(gov, moved),
      ({ op }) => {
        if (isOver(op.state)) gov.rewrites.forget(op.owner.record.id, op.opId);
      },
    ],
    messageGone: [(message) => noteSignalled(gov, message)],
  };
  const gov: Governance = {
    ...parts,
    reactions,
    balances: new BalanceKeeper(parts),
    rateKeeper: new RateKeeper(parts),
    runKeeper: new RunKeeper(parts),
  };
  return gov;
}
