import type { Noting } from '../journal/index.ts';
import { orgItself, watched } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Delegations, KnownDelegations } from './delegations.ts';
import type { AgentDirectory, KnownAgents } from './directory.ts';
import type { KnownReports, ReportedTools } from './reported-tools.ts';
import type { KnownSuspensions, ScopeSuspensions } from './scope-suspensions.ts';

/** Who has a token, under the name by which turns rest on it. */
export function tokenName(tokenHash: string): string {
  return `token ${tokenHash}`;
}

/** A change of a tool that was reported, under the name by which turns rest on it. */
export function reportName(report: string): string {
  return `report ${report}`;
}

/** All suspensions together. */
export const suspensionsName = 'suspensions';

/**
 * Not noted: what this gateway alone knows, and going through everybody. A round does something to each that it meets, which
 * is noted then, and meets others the next time.
 */
type Unnoted = 'all' | 'isShared' | 'left' | 'orgs' | 'outOfService' | 'registered' | 'size' | 'used';

/** Notes what rules read of agents. */
export function watchedAgents(directory: AgentDirectory, journal: Noting): AgentDirectory {
  const note = (key: string) => journal.reads({ agent: key });
  const seen: Omit<KnownAgents, Unnoted> = {
    delegations: watchedDelegations(directory.delegations, journal),
    suspensions: watchedSuspensions(directory.suspensions, journal),
    find: (id) => {
      const found = directory.find(id);
      note(found?.key ?? agentKey(id));
      return found;
    },
    withKey: (key) => {
      note(key);
      return directory.withKey(key);
    },
    ownerOf: (tokenHash) => {
      const owner = directory.ownerOf(tokenHash);
      journal.reads({ name: tokenName(tokenHash) });
      if (owner !== undefined) note(owner.key);
      return owner;
    },
    useOf: (orgId) => {
      journal.reads(orgItself(orgId));
      return directory.useOf(orgId);
    },
    inOrg: (orgId) => {
      journal.reads({ org: orgId });
      return directory.inOrg(orgId);
    },
    inTeam: (orgId, teamId) => {
      journal.reads({ org: orgId });
      return directory.inTeam(orgId, teamId);
    },
    childrenOf: (agent) => {
      journal.reads({ org: agent.record.id.orgId });
      return directory.childrenOf(agent);
    },
    // Who is registered changes with its org.
    parentOf: (agent) => {
      const parent = directory.parentOf(agent);
      note(agent.key);
      if (parent !== undefined) note(parent.key);
      return parent;
    },
    checkParent: (child, parent, field) => {
      note(agentKey(child));
      directory.checkParent(child, parent, field);
    },
  };
  return watched(directory, seen);
}

function watchedDelegations(delegations: Delegations, journal: Noting): Delegations {
  const note = (key: string) => journal.reads({ agent: key });
  // Who delegates to whom changes with the org of both.
  const seen: Omit<KnownDelegations, 'all' | 'ended'> = {
    of: (agent) => {
      note(agent.key);
      return delegations.of(agent);
    },
    find: (key) => {
      note(key);
      return delegations.find(key);
    },
    under: (agent) => {
      note(agent.key);
      return delegations.under(agent);
    },
    madeBy: (agent) => {
      note(agent.key);
      return delegations.madeBy(agent);
    },
  };
  return watched(delegations, seen);
}

function watchedSuspensions(suspensions: ScopeSuspensions, journal: Noting): ScopeSuspensions {
  const noteAll = () => journal.reads({ name: suspensionsName });
  const seen: KnownSuspensions = {
    over: (agent) => {
      journal.reads(orgItself(agent.orgId));
      return suspensions.over(agent);
    },
    overOrg: (orgId) => {
      journal.reads(orgItself(orgId));
      return suspensions.overOrg(orgId);
    },
    heldTeams: (orgId) => {
      journal.reads(orgItself(orgId));
      return suspensions.heldTeams(orgId);
    },
    find: (id) => {
      noteAll();
      return suspensions.find(id);
    },
    all: () => {
      noteAll();
      return suspensions.all();
    },
    inForce: () => {
      noteAll();
      return suspensions.inForce();
    },
    get count() {
      noteAll();
      return suspensions.count;
    },
    get newestAt() {
      noteAll();
      return suspensions.newestAt;
    },
  };
  return watched(suspensions, seen);
}

/** Notes which reports rules look for: another gateway may tell of the same. */
export function watchedReports(reports: ReportedTools, journal: Noting): ReportedTools {
  const seen: KnownReports = {
    has: (report) => {
      journal.reads({ name: reportName(report) });
      return reports.has(report);
    },
  };
  return watched(reports, seen);
}
