import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Subject, Width } from '../../packages/core/src/access/authority.ts';
import { refusalOf, subjects, widths } from '../../packages/core/src/access/authority.ts';
import type { Caller } from '../harness/authority-world.ts';
import { AuthorityWorld } from '../harness/authority-world.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { TestGateway, toolCall } from '../harness/gateway.ts';
import type { HttpAnswer } from '../harness/http-client.ts';

/**
 * Tries every credential on everything that can be imposed, from outside, against the one table of the core. To add a
 * kind of thing, add its row: how it comes about, and the call that lifts, changes or decides it.
 */

const policy = `
name: matrix
default: allow
budget:
  org_daily_limit_usd: 100
  team_daily_limit_usd: 10
  agent_daily_limit_usd: 1
  action_on_exceed: require_approval
rules:
  - { name: ask, effect: require_approval, tools: ['ask'] }
  - { name: labels, effect: allow, tools: [read-mail], labels: [mail] }
  - { name: ask-others, effect: require_approval, tools: ['ask-others'], approvals: { self: false } }
`;

let plain: AuthorityWorld;
let strict: AuthorityWorld;
beforeAll(async () => {
  const start = async (extra: Readonly<Record<string, string>>) => {
    const env = { SVC_RATE_LIMIT_API_PER_MIN: '0', SVC_RATE_LIMIT_AUTH_PER_MIN: '0', ...extra };
    return AuthorityWorld.of(await TestGateway.start({ policies: { 'matrix.yaml': policy }, env }));
  };
  plain = await start({});
  // If every agent must confirm, an unconfirmed stop stays one even without a stream.
  strict = await start({ SVC_CONTROL_STRICT: 'true', SVC_CONTROL_ACK_SECS: '1' });
}, 120_000);
afterAll(async () => {
  await plain.gateway[Symbol.asyncDispose]();
  await strict.gateway[Symbol.asyncDispose]();
});

/** One thing that is imposed, and how a caller would lift it. */
interface Imposed {
  /** Imposes it again after a caller has lifted it. */
  readonly impose: () => Promise<unknown>;
  readonly lift: (bearer: string) => Promise<HttpAnswer<Problem>>;
  readonly holds: () => Promise<boolean>;
}

interface Row {
  readonly world: () => AuthorityWorld;
  /** The widths that impose it. One is enough if the width does not matter. */
  readonly widths: readonly Width[];
  /** What the call requires before it checks authority. */
  readonly needs: 'write' | 'admin' | 'unbound admin';
  /** What else the same call decides, and checks in the table first. */
  readonly after?: Subject;
  /** One width after the other, because what is imposed for one counts for the others. */
  readonly oneByOne?: boolean;
  readonly make: (world: AuthorityWorld, width: Width) => Promise<Imposed>;
}

const agentPath = ({ id }: Registered) => `/api/v1/agents/acme/core/${id.agentId}`;
const opPath = ({ id }: Registered, opId: string) =>
  `/api/v1/ops/${encodeURIComponent(`acme/core/${id.agentId}/${opId}`)}`;

/** A charge beyond a cap that only a credential of at least this width may override. */
const chargeUsd: Readonly<Record<Width, number>> = { team: 2, org: 20, unbound: 200 };

/** An action that waits for a verdict, under the rule for this tool. */
function asking(tool: string): Row {
  return {
    world: () => plain,
    widths: ['unbound'],
    needs: 'write',
    make: async (world) => {
      const { gateway } = world;
      const agent = await world.agent(`asking-${tool}`);
      const ask = { traceId: '', spanId: 's', context: toolCall(tool) };
      let asked = 0;
      let approvalId = '';
      return {
        impose: async () => {
          ask.traceId = `ask${++asked}`;
          ({ approvalId } = await gateway.check(agent, ask));
        },
        lift: (bearer) => gateway.api.post<Problem>(`/api/v1/approvals/${approvalId}/approve`, bearer, { reason: '' }),
        holds: async () => asked > 0 && (await gateway.check(agent, ask)).opState === 'pending',
      };
    },
  };
}

const rows: Readonly<Record<Subject, Row>> = {
  suspension: {
    world: () => plain,
    widths,
    needs: 'write',
    make: async (world, width) => {
      const { gateway, imposers } = world;
      const agent = await world.agent(`suspended-${width}`);
      return {
        impose: () => gateway.api.post(`${agentPath(agent)}/suspend`, imposers[width]),
        lift: (bearer) => gateway.api.post<Problem>(`${agentPath(agent)}/resume`, bearer),
        holds: async () => (await gateway.check(agent)).reason === 'agent is suspended',
      };
    },
  },
  pause: {
    world: () => plain,
    widths,
    needs: 'write',
    make: async (world, width) => {
      const { gateway, imposers } = world;
      const agent = await world.agent(`paused-${width}`);
      const work = { traceId: 'work', spanId: 's' };
      await gateway.check(agent, work);
      return {
        impose: () => gateway.api.post(`${opPath(agent, 'work:s')}/pause`, imposers[width]),
        lift: (bearer) => gateway.api.post<Problem>(`${opPath(agent, 'work:s')}/resume`, bearer),
        holds: async () => (await gateway.check(agent, work)).opState === 'paused',
      };
    },
  },
  unconfirmed_stop: {
    world: () => strict,
    widths,
    needs: 'write',
    make: async (world, width) => {
      const { gateway, imposers } = world;
      const agent = await world.agent(`blocked-${width}`);
      const isBlocked = async () => (await gateway.check(agent)).reason === 'agent has not confirmed a stop';
      let stops = 0;
      return {
        impose: async () => {
          const spanId = `s${++stops}`;
          await gateway.check(agent, { traceId: 'work', spanId });
          await gateway.api.post(`${opPath(agent, `work:${spanId}`)}/terminate`, imposers[width]);
          await eventually(async () => expect(await isBlocked()).toBe(true));
        },
        lift: (bearer) => gateway.api.post<Problem>(`${agentPath(agent)}/resume`, bearer),
        holds: isBlocked,
      };
    },
  },
  labels: {
    world: () => plain,
    widths: ['unbound'],
    needs: 'write',
    make: async (world) => {
      const { gateway, owner } = world;
      const agent = await world.agent('labelled');
      const run = { org_id: 'acme', team_id: 'core', run_id: 'labelled run' };
      const path = '/api/v1/runs/labelled%20run?org_id=acme&team_id=core';
      return {
        impose: () => gateway.check(agent, { runId: run.run_id, context: toolCall('read-mail') }),
        lift: (bearer) => gateway.api.post<Problem>('/api/v1/runs/labels/clear', bearer, { ...run, reason: 'seen to' }),
        holds: async () => {
          const read = await gateway.api.get<{ labels?: readonly unknown[] }>(path, owner.accessToken);
          return read.body.labels?.length === 1;
        },
      };
    },
  },
  approval: asking('ask'),
  approval_by_others: asking('ask-others'),
  cap: {
    world: () => plain,
    widths,
    needs: 'write',
    after: 'approval',
    oneByOne: true,
    make: async (world, width) => {
      const { gateway } = world;
      const agent = await world.agent(`spending-${width}`);
      const spend = { traceId: '', spanId: 's', estimatedCostMicros: chargeUsd[width] * 1_000_000 };
      let asked = 0;
      let approvalId = '';
      return {
        impose: async () => {
          // The allowed overrun costs nothing in the end, so that the next charge exceeds the same cap.
          if (asked > 0) await gateway.complete(agent, `${spend.traceId}:s`, { actualCostMicros: 0 });
          spend.traceId = `spend${++asked}`;
          ({ approvalId } = await gateway.check(agent, spend));
        },
        lift: (bearer) => gateway.api.post<Problem>(`/api/v1/approvals/${approvalId}/approve`, bearer, { reason: '' }),
        holds: async () => asked > 0 && (await gateway.check(agent, spend)).opState === 'pending',
      };
    },
  },
  policy_document: {
    world: () => plain,
    widths,
    needs: 'admin',
    make: async (world, width) => {
      const { gateway, owner, callers } = world;
      const author = callers.find((caller) => caller.name === `an admin key (${width})`)?.bearer ?? '';
      const namespace = { team: 'acme/core/', org: 'acme/', unbound: '' }[width];
      const source = 'scope: team:acme/core\nrules: []';
      // Deleting a document counts as writing it, so each needs its own name.
      let made = 0;
      const path = () => `/api/v1/policies/${encodeURIComponent(`${namespace}imposed-${width}-${made}`)}`;
      const read = () => gateway.api.get(path(), owner.accessToken);
      return {
        impose: async () => {
          made += 1;
          await gateway.api.send('PUT', path(), { bearer: author, json: { source } });
        },
        lift: (bearer) => gateway.api.send<Problem>('DELETE', path(), { bearer }),
        holds: async () => (await read()).status === 200,
      };
    },
  },
  invite: {
    world: () => plain,
    widths,
    needs: 'admin',
    make: async (world, width) => {
      const { gateway, owner, callers } = world;
      const author = callers.find((caller) => caller.name === `an admin key (${width})`)?.bearer ?? '';
      const json = { email: `invited-${width}@example.com`, org_id: 'acme', team_id: 'core' };
      let id = '';
      return {
        impose: async () => {
          const made = await gateway.api.post<{ invite: { id: string } }>('/api/v1/auth/invite', author, json);
          ({ id } = made.body.invite);
        },
        lift: (bearer) => gateway.api.send<Problem>('DELETE', `/api/v1/auth/invites/${id}`, { bearer }),
        holds: async () => {
          const { body } = await owner.call<{ items: { id: string }[] }>('GET', '/api/v1/auth/invites?per_page=1000');
          return body.items.some((invite) => invite.id === id);
        },
      };
    },
  },
  owner_account: {
    world: () => plain,
    widths: ['unbound'],
    needs: 'unbound admin',
    make: async (world) => {
      const { gateway, owner } = world;
      const { email, id } = await world.formerOwner();
      const statusOf = async () => {
        const listed = await owner.call<{ items: { id: string; role: string }[] }>('GET', '/api/v1/accounts');
        return listed.body.items.find((account) => account.id === id)?.role;
      };
      return {
        impose: () => owner.call('PATCH', `/api/v1/accounts/${id}`, { role: 'owner' }),
        lift: async (bearer) => {
          // An invite to this address needs the same authority as a change of the account.
          const invited = await gateway.api.post<Problem>('/api/v1/auth/invite', bearer, { email, role: 'viewer' });
          const json = { role: 'viewer' };
          const changed = await gateway.api.send<Problem>('PATCH', `/api/v1/accounts/${id}`, { bearer, json });
          if (changed.status >= 400) expect(invited.body.code).toBe(changed.body.code);
          else expect(invited.status).toBe(201);
          return changed;
        },
        holds: async () => (await statusOf()) === 'owner',
      };
    },
  },
};

/** The expected answer. The requirements of the call itself come first. */
function expectedOf(subject: Subject, { needs, after }: Row, caller: Caller, width: Width): string {
  if (needs !== 'write' && !caller.isAdmin) return 'insufficient_scope';
  if (needs === 'unbound admin' && caller.width !== 'unbound') return 'tenant_bound';
  const first = after === undefined ? null : refusalOf(after, caller, width);
  return first ?? refusalOf(subject, caller, width) ?? 'allowed';
}

test('every kind of thing has its row', () => {
  expect(Object.keys(rows).toSorted()).toEqual([...subjects].toSorted());
});

for (const [subject, row] of Object.entries(rows) as [Subject, Row][]) {
  describe(`${subject}, for every credential`, { concurrent: row.oneByOne !== true }, () => {
    test.each(row.widths)('imposed by one that is %s', { timeout: 120_000 }, async (width) => {
      const world = row.world();
      const imposed = await row.make(world, width);
      const told: Record<string, string> = {};
      for (const { name, bearer } of world.callers) {
        if (!(await imposed.holds())) await imposed.impose();
        expect(await imposed.holds(), `${name}: it is imposed`).toBe(true);
        const answer = await imposed.lift(bearer);
        told[name] = answer.status < 400 ? 'allowed' : answer.body.code;
        expect(await imposed.holds(), `${name}: ${told[name]}`).toBe(told[name] !== 'allowed');
      }
      const expected = world.callers.map((caller) => [caller.name, expectedOf(subject, row, caller, width)]);
      expect(told).toEqual(Object.fromEntries(expected));
      expect(new Set(Object.values(told)).size).toBeGreaterThan(1);
    });
  });
}
