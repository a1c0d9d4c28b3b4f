import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../../trust/chance.ts';
import { gate } from '../checker/policies.ts';
import type { HttpReply } from './calls.ts';
import { anywhere, http } from './calls.ts';
import type { Cluster } from './cluster.ts';
import type { Notes, StormAgentId } from './notes.ts';

const lists = ['/api/v1/ops', '/api/v1/agents', '/api/v1/approvals', '/api/v1/budgets', '/api/v1/cluster'] as const;

const closed = `name: ${gate}\nrules:\n  - { name: closed, effect: deny, tools: [${gate}] }\n`;

/** Pauses, resumes, terminates, suspends, approves, rejects, changes a policy and reads, at any gateway. */
export class StormOperator {
  readonly #cluster: Cluster;
  readonly #chance: Chance;
  readonly #notes: Notes;
  readonly #agents: readonly StormAgentId[];
  /** While a gateway reads a policy of another one, it commits nothing. So calls may take long. */
  readonly #changesPolicies: boolean;

  constructor(
    cluster: Cluster,
    chance: Chance,
    notes: Notes,
    agents: readonly StormAgentId[],
    changesPolicies: boolean,
  ) {
    this.#cluster = cluster;
    this.#chance = chance;
    this.#notes = notes;
    this.#agents = agents;
    this.#changesPolicies = changesPolicies;
  }

  async storm(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const roll = this.#chance.next();
      if (roll < 0.5) await this.#control();
      else if (roll < 0.8) await this.#decide();
      else if (roll < 0.86) await this.#suspend();
      else if (roll < 0.91) await this.#controlMany();
      else if (roll < 0.925 && this.#changesPolicies) await this.#govern();
      else await this.#ask('GET', this.#chance.oneOf(lists));
      await sleep(this.#chance.between(5, 80));
    }
  }

  /** Lets all agents go on, and ends what is left. Repeats it until nothing is. */
  async endEverything(): Promise<void> {
    for (const agent of this.#agents) await this.#ask('POST', `${pathOf(agent)}/resume`, {});
    for (;;) {
      const json = { action: 'terminate', scope: { all: true }, reason: 'the storm is over' };
      const { body } = await this.#ask('POST', '/api/v1/control', json);
      if (body['matched'] === 0) return;
    }
  }

  async #control(): Promise<void> {
    const { inFlight, controls } = this.#notes;
    const nth = this.#chance.below(Math.min(inFlight.length, 25));
    const op = inFlight.at(-1 - nth);
    if (op === undefined) return;
    const verb = this.#chance.oneOf(['pause', 'pause', 'resume', 'resume', 'resume', 'terminate'] as const);
    const { status, body } = await this.#ask('POST', `/api/v1/ops/${encodeURIComponent(op.opId)}/${verb}`, {});
    const control = body['control'] as { readonly id: string } | null | undefined;
    if (status === 202 && control?.id !== undefined) controls.push(control.id);
  }

  /** Pauses everything of an agent or a team, and lets it go on. */
  async #controlMany(): Promise<void> {
    const { orgId: org_id, teamId: team_id, agentId: agent_id } = this.#chance.oneOf(this.#agents) ?? {};
    const scope = this.#chance.happens(0.5) ? { org_id, team_id } : { org_id, team_id, agent_id };
    // The key lets a repeated request be the same control.
    for (const action of ['pause', 'resume']) {
      const headers = { 'idempotency-key': `${action}-${this.#chance.below(2 ** 32)}` };
      const { body } = await this.#ask('POST', '/api/v1/control', { action, scope, reason: 'the storm' }, headers);
      if (typeof body['control_id'] === 'string') this.#notes.controls.push(body['control_id']);
      await sleep(this.#chance.between(0, 300));
    }
  }

  async #decide(): Promise<void> {
    const { body } = await this.#ask('GET', '/api/v1/approvals?per_page=20');
    const items = (body['items'] ?? []) as readonly { readonly id: string }[];
    const approval = this.#chance.oneOf(items);
    if (approval === undefined) return;
    const verb = this.#chance.oneOf(['approve', 'reject'] as const);
    // Two people may decide the same one at once, at different gateways.
    const copies = this.#chance.happens(0.3) ? 2 : 1;
    const decide = async () => {
      const reply = await this.#ask('POST', `/api/v1/approvals/${approval.id}/${verb}`, {});
      if (reply.status === 200)
        this.#notes.verdicts.push({ approvalId: approval.id, state: String(reply.body['state']) });
    };
    await Promise.all(Array.from({ length: copies }, decide));
  }

  /** Closes the gate, or opens it. */
  async #govern(): Promise<void> {
    const path = `/api/v1/policies/${gate}`;
    if (this.#chance.happens(0.5)) await this.#ask('PUT', path, { source: closed });
    else await this.#ask('DELETE', path);
  }

  async #suspend(): Promise<void> {
    const agent = this.#chance.oneOf(this.#agents);
    if (agent === undefined) return;
    await this.#ask('POST', `${pathOf(agent)}/suspend`, { reason: 'the storm' });
    await sleep(this.#chance.between(50, 600));
    await this.#ask('POST', `${pathOf(agent)}/resume`, {});
  }

  #ask(
    method: string,
    path: string,
    json?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpReply> {
    return anywhere(this.#cluster, this.#chance, this.#notes, (node) => http(node, method, path, json, headers));
  }
}

function pathOf({ orgId, teamId, agentId }: StormAgentId): string {
  return `/api/v1/agents/${orgId}/${teamId}/${agentId}`;
}
