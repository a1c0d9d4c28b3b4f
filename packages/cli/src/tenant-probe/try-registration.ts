import type { Answer } from './caller.ts';
import { isObject } from '../is-object.ts';
import { codeOf, succeeded, valueOf } from './caller.ts';
import { difference } from './compare-answers.ts';
import type { Credential } from './credentials.ts';
import { suffices } from './credentials.ts';
import type { Operation } from './operations.ts';
import { membersOf } from './parameter-slots.ts';
import type { Probe } from './probe.ts';
import { ask, lookThrough } from './probe.ts';
import { summaryOf, tryWithoutScope } from './try-own.ts';

/** Whether an operation registers agents: any name in the caller's own tenant is new, or its own already. */
export function isRegistration({ method, path, body }: Operation): boolean {
  return method === 'POST' && path.endsWith('/agents') && membersOf(body).includes('agent_id');
}

/**
 * Tries to register agents, without making any: one that the caller has already, which is refused because it exists, and
 * agents of others, which are refused alike whether they exist or not.
 */
export async function tryRegistration(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  if (!suffices(credential, operation.access)) {
    await tryWithoutScope(probe, operation, credential);
    return;
  }
  const { orgId, own } = credential;
  const fail = (what: string, answer: Answer) =>
    probe.notebook.find(operation.name, credential.name, `${what}: ${summaryOf(answer)}`);
  const register = async (how: string, members: Readonly<Record<string, string>>) => {
    const answer = await ask(probe, operation, credential, { at: new Map(), members });
    lookThrough(probe, operation, credential, how, answer, Object.values(members));
    note(probe, answer);
    return answer;
  };
  const known = await register('asked for its own', { org_id: orgId, team_id: own.team, agent_id: own.agent });
  if (known.status !== 409 || codeOf(known) !== 'agent_exists') fail('does not say that its own agent exists', known);
  for (const { what, names, missing } of credential.others) {
    const { org = orgId, team = own.team, agent = own.agent } = names;
    if (org === orgId && team === own.team) continue;
    const how = `asked for ${what}`;
    const answer = await register(how, { org_id: org, team_id: team, agent_id: agent });
    const absent = { org: missing.org ?? orgId, team: missing.team ?? own.team, agent: missing.agent ?? own.agent };
    const like = await register(how, { org_id: absent.org, team_id: absent.team, agent_id: absent.agent });
    probe.notebook.comparisons++;
    if (answer.status !== 403) fail(`does not refuse what is not its own, ${how}`, answer);
    const told = difference(answer, like, []);
    if (told !== undefined) fail(`tells it from one that does not exist by ${told}, ${how}`, answer);
  }
}

/** With a leak, an agent was made. It is removed like the others. */
function note({ made }: Probe, answer: Answer): void {
  const body = succeeded(answer) ? valueOf(answer) : undefined;
  if (!isObject(body) || !isObject(body['agent']) || typeof body['token'] !== 'string') return;
  const { org_id: orgId, team_id: teamId, agent_id: agentId } = body['agent'];
  made.agents.push({
    id: { orgId: String(orgId), teamId: String(teamId), agentId: String(agentId) },
    token: body['token'],
  });
}
