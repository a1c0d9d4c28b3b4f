import type { AgentId } from '@reeve/core';
import type { Random } from './random.ts';

/** What the owner of an agent knows about it. */
export interface KnownAgent {
  readonly id: AgentId;
  /** The number of the token of its last registration, acknowledged or not. 0: there is none. */
  token: number;
  registrations: number;
  ops: number;
  /** Operations that it has asked about and got no answer yet, and since which step. */
  readonly asking: Map<string, number>;
  /** Ids of operations that it may still finish. */
  readonly running: string[];
  /** Approvals that it waits for. */
  readonly asked: string[];
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

/** The people and agents outside the gateways, and what they know. */
export class World {
  readonly agents: KnownAgent[] = [];
  readonly keys: KnownKey[] = [];

  constructor(agentsPerTeam: number) {
    for (const orgId of orgs) {
      for (const teamId of teams) {
        for (let nth = 0; nth < agentsPerTeam; nth++) {
          const id = { orgId, teamId, agentId: `bot-${nth}` };
          this.agents.push({
            id,
            token: 0,
            registrations: 0,
            ops: 0,
            asking: new Map(),
            running: [],
            asked: [],
          });
        }
      }
    }
  }

  /** Some agents do far more than others, so that gateways meet at them. */
  agent(random: Random): KnownAgent {
    const nth = Math.floor(this.agents.length * random.next() ** 3);
    const agent = this.agents[(nth * 7) % this.agents.length];
    if (agent === undefined) throw new Error('there are no agents');
    return agent;
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
