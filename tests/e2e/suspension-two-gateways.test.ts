import { afterAll, beforeAll, expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import { makeKey, registerAs } from '../harness/credentials.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { allowAll, bootstrapKey } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import type { TestStore } from '../harness/stores.ts';
import { postgresStore } from '../harness/stores.ts';

const rounds = 10;

let store: TestStore;
let one: TestGateway;
let two: TestGateway;
/** The write key of the agents. */
let own: string;
beforeAll(async () => {
  store = await postgresStore.open();
  const options = { policies: { 'all.yaml': allowAll }, env: { SVC_NATS_URL: (await sharedNats()).url() } };
  one = await store.start(options);
  two = await store.start(options);
  own = (await makeKey(one, { scopes: ['write'], org_id: 'acme' })).key;
});
afterAll(() => store[Symbol.asyncDispose]());

async function change(action: 'suspend' | 'resume', { id }: Registered, at: TestGateway, bearer = bootstrapKey) {
  const path = `/api/v1/agents/${id.orgId}/${id.teamId}/${id.agentId}/${action}`;
  return at.api.post(path, bearer, { reason: 'odd' });
}

async function registerAt(gateway: TestGateway, agentId: string, bearer = own): Promise<Registered> {
  const { credentialToken } = await registerAs(gateway, bearer, { agentId });
  return { id: { orgId: 'acme', teamId: 'core', agentId }, token: credentialToken };
}

/** The agent's moves at gateway two while gateway one suspends it. Each returns the agent's new state. */
const manoeuvres: Readonly<Record<string, (agent: Registered) => Promise<Registered>>> = {
  'registers again': ({ id }) => registerAt(two, id.agentId),
  leaves: async (agent) => {
    await two.deregister(agent).catch(() => undefined);
    return agent;
  },
  'opens a control stream': async (agent) => {
    const stream = await ControlStream.open(two, agent);
    stream.cancel();
    return agent;
  },
};

test.each(Object.keys(manoeuvres))(
  'an agent that %s at another gateway while it is suspended stays suspended at both',
  async (name) => {
    const manoeuvre = manoeuvres[name] ?? (() => Promise.reject(new Error(name)));
    const escaped: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const agentId = `${name.replaceAll(' ', '-')}-${round}`;
      const before = await registerAt(one, agentId);
      const suspending = change('suspend', before, one);
      // In every other round the suspension is durable when the agent moves.
      if (round % 2 === 1) await suspending;
      const [moved, answer] = await Promise.all([manoeuvre(before), suspending]);
      // The agent left before the suspension came. The operator learns that nothing was imposed.
      if (name === 'leaves' && round % 2 === 0 && answer.status === 404) continue;
      expect(answer.status, answer.text).toBe(200);
      // An agent that left returns with a new token.
      const agent = name === 'leaves' ? await registerAt(two, agentId) : moved;
      for (const gateway of [one, two]) {
        const { decision, reason } = await gateway.check(agent);
        if (decision !== 2 || reason !== 'agent is suspended') escaped.push(`${agentId}: ${decision} ${reason}`);
      }
    }
    expect(escaped).toEqual([]);
    expect(one.audit().filter((entry) => entry.event_type === 'AgentResumed')).toEqual([]);
  },
  120_000,
);

test('of two suspensions at once the wider one stays, and a narrower credential lifts neither', async () => {
  const narrow = (await makeKey(one, { scopes: ['write'], org_id: 'acme' })).key;
  for (let round = 0; round < rounds; round++) {
    const agent = await registerAt(one, `twice-${round}`);
    const answers = await Promise.all([change('suspend', agent, one), change('suspend', agent, two, narrow)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const gateway of [one, two]) {
      const path = `/api/v1/agents/acme/core/twice-${round}/resume`;
      const answer = await gateway.api.post<{ code: string }>(path, narrow, {});
      expect([answer.status, answer.body.code]).toEqual([403, 'imposed_by_wider']);
    }
    expect(await change('resume', agent, two)).toMatchObject({ status: 200 });
    expect(await one.check(agent)).toMatchObject({ decision: 1 });
    expect(await two.check(agent)).toMatchObject({ decision: 1 });
  }
}, 120_000);
