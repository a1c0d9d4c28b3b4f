import type { AgentId } from '@reeve/core';
import type { Random } from './random.ts';

/** A run whose labels somebody has asked to clear. */
export interface ClearedRun {
  readonly orgId: string;
  readonly teamId: string;
  readonly runId?: string;
  readonly agentId?: string;
}

/** What the owner of an agent knows about it. */
export interface KnownAgent {
  readonly id: AgentId;
  /** Its tokens, the newest last: that of its last registration, acknowledged or not, and those that it was given. */
  readonly tokens: string[];
  /** It was told that its newest token is none, or has ended. */
  isLost: boolean;
  registrations: number;
  ops: number;
  /** Operations that it has asked about and got no answer yet, and since which step. */
  readonly asking: Map<string, number>;
  /** Ids of operations that it may still finish. */
  readonly running: string[];
  /** Ids of operations that it has finished lately. */
  readonly finished: string[];
}

/** An operation of somebody. */
export interface KnownOp {
  readonly agent: KnownAgent;
  readonly opId: string;
}

/** What the holder of a key knows about it. */
export interface KnownKey {
  readonly secret: string;
  readonly id: string;
  /** Since when, in steps, its revocation has been acknowledged. */
  revokedSince: number | undefined;
}

const orgs = ['acme', 'umbra', 'initech', 'hooli'];
const teams = ['red', 'blue', 'green'];
/** Where agents act for others, and how many ids they have for that. */
const delegating = [
  ['acme', 'red'],
  ['acme', 'blue'],
  ['umbra', 'red'],
] as const;
const delegatesOfTeam = 3;
/** How many tokens an agent remembers. */
const mostTokens = 5;
const mostApprovals = 6;
const mostFinished = 3;
const mostJudging = 8;

function knownAgent(id: AgentId): KnownAgent {
  return { id, tokens: [], isLost: false, registrations: 0, ops: 0, asking: new Map(), running: [], finished: [] };
}

/** The agent has one more token. */
export function keepToken(agent: KnownAgent, token: string): void {
  agent.isLost = false;
  agent.tokens.push(token);
  if (agent.tokens.length > mostTokens) agent.tokens.shift();
}

/** The agent has finished an operation. */
export function noteFinished({ running, finished }: KnownAgent, opId: string): void {
  const at = running.indexOf(opId);
  if (at >= 0) running.splice(at, 1);
  finished.push(opId);
  if (finished.length > mostFinished) finished.shift();
}

/** The people and agents outside the gateways, and what they know. */
export class World {
  readonly agents: KnownAgent[] = [];
  /** Ids by which agents act for others of their team, and for each other. */
  readonly delegates: readonly KnownAgent[];
  readonly keys: KnownKey[] = [];
  /** The newest approvals that agents wait for. */
  readonly approvals: string[] = [];
  /** Whose labels somebody has asked to clear last. */
  cleared: ClearedRun | undefined;
  /** The newest operations whose results are to be judged. */
  readonly judging: KnownOp[] = [];

  constructor(agentsPerTeam: number) {
    for (const orgId of orgs) {
      for (const teamId of teams) {
        for (let nth = 0; nth < agentsPerTeam; nth++) {
          this.agents.push(knownAgent({ orgId, teamId, agentId: `bot-${nth}` }));
        }
      }
    }
    this.delegates = delegating.flatMap(([orgId, teamId]) =>
      Array.from({ length: delegatesOfTeam }, (_, nth) => knownAgent({ orgId, teamId, agentId: `sub-${nth}` })),
    );
  }

  /** Some agents do far more than others, so that gateways meet at them. */
  agent(random: Random): KnownAgent {
    const acting = random.chance(0.3) ? this.delegates.filter(({ tokens }) => tokens.length > 0) : [];
    if (acting.length > 0) return random.pick(acting);
    const nth = Math.floor(this.agents.length * random.next() ** 3);
    const agent = this.agents[(nth * 7) % this.agents.length];
    if (agent === undefined) throw new Error('there are no agents');
    return agent;
  }

  /** People see what waits for them. */
  ask(approvalId: string): void {
    this.approvals.push(approvalId);
    if (this.approvals.length > mostApprovals) this.approvals.shift();
  }

  /** Somebody is to ask about what an operation brings back. */
  owe(op: KnownOp): void {
    this.judging.push(op);
    if (this.judging.length > mostJudging) this.judging.shift();
  }

  /** Mostly an agent that needs a token. */
  agentToRegister(random: Random): KnownAgent {
    const lost = this.agents.filter(({ isLost }) => isLost);
    return lost.length > 0 && random.chance(0.8) ? random.pick(lost) : this.agent(random);
  }

  /** Somebody of the same team, who may act for others itself. */
  sibling(random: Random, { id: { orgId, teamId, agentId } }: KnownAgent): KnownAgent | undefined {
    const isDelegate = random.chance(0.4);
    const team = (isDelegate ? this.delegates : this.agents).filter(({ id, tokens }) => {
      return tokens.length > 0 && id.orgId === orgId && id.teamId === teamId && id.agentId !== agentId;
    });
    // The same few delegate, so that chains come about.
    return team[Math.floor(team.length * random.next() ** 2)];
  }

  /** An agent that is about something, if one is found soon. */
  workingAgent(random: Random): KnownAgent {
    let agent = this.agent(random);
    for (let tries = 0; tries < 12 && agent.running.length === 0; tries++) agent = this.agent(random);
    return agent;
  }

  /** The first key is never revoked. */
  key(random: Random): KnownKey {
    return random.chance(0.3) ? this.root : random.pick(this.keys);
  }

  get root(): KnownKey {
    const [root] = this.keys;
    if (root === undefined) throw new Error('there are no keys');
    return root;
  }
}
