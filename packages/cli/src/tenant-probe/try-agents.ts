import type { Credential } from './credentials.ts';
import type { AgentPort, AgentTriple, NewAgent } from './ports.ts';
import type { Probe } from './probe.ts';

const operation = 'RegisterAgent';

/** Tries to register agents where the caller must not: in another tenant, and below an agent of another tenant. */
export async function tryAgents(probe: Probe, agents: AgentPort, credential: Credential): Promise<void> {
  if (credential.level === 'read') return;
  const { notebook } = probe;
  for (const { what, names } of credential.others) {
    const { org = credential.orgId, team, agent } = names;
    if (team === undefined || agent === undefined) continue;
    const id = { orgId: org, teamId: team, agentId: agent };
    const refusal = await register(probe, agents, credential, { id, name: 'canary', parent: undefined });
    notebook.count(operation, 1);
    if (refusal === undefined) notebook.find(operation, credential.name, `registers an agent in ${what}`);
  }
  await tryParent(probe, agents, credential);
}

async function tryParent(probe: Probe, agents: AgentPort, credential: Credential): Promise<void> {
  const { notebook, canaries } = probe;
  const child = { orgId: credential.orgId, teamId: credential.own.team, agentId: `${canaries.run}-a-stray` };
  const parent = canaries.b.agents.root.id;
  const missing = { ...parent, agentId: `${parent.agentId}x` };
  const below = (above: AgentTriple) =>
    register(probe, agents, credential, { id: child, name: 'canary', parent: above });
  const refusal = await below(parent);
  const like = await below(missing);
  notebook.count(operation, 2);
  notebook.comparisons++;
  if (refusal === undefined) notebook.find(operation, credential.name, 'registers an agent below one of another org');
  else if (refusal !== like) {
    const what = `tells a parent in another org from one that does not exist by "${refusal}" instead of "${like}"`;
    notebook.find(operation, credential.name, what);
  }
}

/** The refusal of the gateway. Undefined if it registers the agent, which is then noted for removal. */
async function register(
  { made }: Probe,
  agents: AgentPort,
  { bearer }: Credential,
  agent: NewAgent,
): Promise<string | undefined> {
  try {
    const { token } = await agents.registerAgent(bearer, agent);
    made.agents.push({ id: agent.id, token });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
