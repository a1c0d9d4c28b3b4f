import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Agent, AgentRecord } from './agent.ts';
import type { Lineage } from '../audit/entry.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentKey } from '../kernel/ids.ts';
import type { AgentDirectory } from './directory.ts';
import { resumeAgent, suspendAgent } from '../testkit/commands.ts';

const names = ['acme/search/a', 'acme/search/b', 'acme/other/c', 'acme//d', 'umbrella/search/a', '//a', '//b'];

type Command =
  | { readonly do: 'register'; readonly agent: string; readonly parent: string | undefined }
  | { readonly do: 'deregister' | 'suspend' | 'resume'; readonly agent: string }
  | { readonly do: 'fail next turn' };

const name = fc.constantFrom(...names);
const someCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      agent: name,
      parent: fc.option(name, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('deregister' as const, 'suspend' as const, 'resume' as const),
      agent: name,
    }),
  },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'fail next turn' }) },
);

/** Compares everything the directory's indexes say with what follows from the records alone. */
function expectIndexesFit(directory: AgentDirectory, everUsed: ReadonlySet<string>): void {
  const all = [...directory.all()];
  const registered = all.filter((agent) => agent.record.tokenHash !== null);
  expect(directory.size).toBe(all.length);
  for (const agent of all) {
    expect(directory.find(agent.record.id)).toBe(agent);
    expect(agent.lineage).toEqual(lineageOf(agent, all));
    const children = all.filter((other) => other.record.parent !== null && agentKey(other.record.parent) === agent.key);
    expect(new Set(directory.childrenOf(agent))).toEqual(new Set(children));
  }
  for (const hash of everUsed) {
    expect(directory.ownerOf(hash)).toBe(registered.find((agent) => agent.record.tokenHash === hash));
  }
  const orgIds = new Set(registered.map((agent) => agent.record.id.orgId));
  expect(new Set(directory.orgs().keys())).toEqual(orgIds);
  expect(new Set(directory.left())).toEqual(new Set(all.filter((agent) => !registered.includes(agent))));
  for (const orgId of ['acme', 'umbrella', '']) {
    const inOrg = registered.filter((agent) => agent.record.id.orgId === orgId);
    const left = all.filter((agent) => agent.record.id.orgId === orgId && !inOrg.includes(agent));
    expect(new Set(directory.left(orgId))).toEqual(new Set(left));
    expect(new Set(directory.inOrg(orgId))).toEqual(new Set(inOrg));
    for (const teamId of ['search', 'other', '']) {
      const inTeam = inOrg.filter((agent) => agent.record.id.teamId === teamId);
      expect(new Set(directory.inTeam(orgId, teamId))).toEqual(new Set(inTeam));
    }
    const tally = directory.orgs().get(orgId)?.tally;
    expect(tally?.agents ?? 0).toBe(inOrg.length);
    expect(tally?.roots ?? 0).toBe(inOrg.filter((agent) => agent.lineage.depth === 0).length);
    expect(tally?.suspended ?? 0).toBe(inOrg.filter((agent) => agent.record.suspension !== null).length);
    for (const [depth, agents] of tally?.byDepth ?? []) {
      expect(agents).toBe(inOrg.filter((agent) => agent.lineage.depth === depth).length);
    }
  }
}

function lineageOf(agent: Agent, all: readonly Agent[]): Lineage {
  const { id, parent } = agent.record;
  const above = all.find((other) => parent !== null && other.key === agentKey(parent));
  const upper = above === undefined ? undefined : lineageOf(above, all);
  return {
    agent_id: id.agentId,
    depth: parent === null ? 0 : (upper?.depth ?? 0) + 1,
    org_id: id.orgId === '' ? null : id.orgId,
    parent_agent_id: parent?.agentId ?? null,
    root_agent_id: upper?.root_agent_id ?? parent?.agentId ?? id.agentId,
    team_id: id.teamId,
  };
}

/** Whether naming `parent` would make the agent its own ancestor, judging by the parents that all agents name. */
function closesCircle(directory: AgentDirectory, child: AgentId, parent: AgentId): boolean {
  let above: AgentId | null = parent;
  for (let steps = 0; above !== null && steps < 100; steps++) {
    if (agentKey(above) === agentKey(child)) return true;
    above = directory.find(above)?.record.parent ?? null;
  }
  return false;
}

class Registry {
  readonly test: TestGovernance;
  readonly everUsed = new Set<string>();
  readonly #agents = new Map<string, TestAgent>();
  #failNext = false;

  constructor(test: TestGovernance) {
    this.test = test;
  }

  async run(command: Command): Promise<void> {
    if (command.do === 'fail next turn') {
      this.#failNext = true;
      return;
    }
    const before = recordsOf(this.test.gov.directory);
    const failing = this.#failNext;
    this.#failNext = false;
    if (failing) this.test.failure = new Error('the disk is full');
    const outcome = await this.#act(command).then(
      () => 'done',
      (error: { code?: string }) => error.code,
    );
    this.test.failure = undefined;
    expect(outcome).toMatch(/^(done|invalid_argument|store_unavailable|unauthenticated|agent_not_found)$/);
    if (outcome !== 'done') expect(recordsOf(this.test.gov.directory)).toEqual(before);
  }

  async #act(command: Exclude<Command, { do: 'fail next turn' }>): Promise<void> {
    const { test } = this;
    const id = agentId(command.agent);
    if (command.do === 'register') await this.#register(command.agent, command.parent);
    else if (command.do === 'deregister')
      await test.deregister(this.#agents.get(command.agent) ?? { id, token: 'none' });
    else if (command.do === 'suspend') await test.settle(suspendAgent(test.gov, operator, id, 'odd'));
    else await test.settle(resumeAgent(test.gov, operator, id, ''));
  }

  async #register(agent: string, parent: string | undefined): Promise<void> {
    const id = agentId(agent);
    const { directory } = this.test.gov;
    const above = parent === undefined ? undefined : agentId(parent);
    const circle = above !== undefined && closesCircle(directory, id, above);
    const registering = this.test.register(id, above === undefined ? {} : { parent: above });
    if (circle) {
      await expect(registering).rejects.toMatchObject({ code: 'invalid_argument' });
      return;
    }
    this.#agents.set(agent, await registering);
    this.everUsed.add(this.test.known(id).record.tokenHash ?? '');
  }
}

function recordsOf(directory: AgentDirectory): Record<string, AgentRecord> {
  return Object.fromEntries([...directory.all()].map((agent) => [agent.key, agent.record]));
}

test('whoever comes, moves, is suspended or goes, every index is what the records say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someCommand, { maxLength: 25, size: 'max' }), async (commands) => {
      const registry = new Registry(await testGovernance());
      for (const command of commands) {
        await registry.run(command);
        expectIndexesFit(registry.test.gov.directory, registry.everUsed);
      }
      const restarted = await registry.test.crash();
      expect(recordsOf(restarted.gov.directory)).toEqual(recordsOf(registry.test.gov.directory));
      expectIndexesFit(restarted.gov.directory, registry.everUsed);
    }),
    { numRuns: 200 },
  );
});

describe('the lineage of an agent', () => {
  const [root, middle, leaf] = ['acme/search/root', 'acme/search/middle', 'acme/other/leaf'].map(agentId) as [
    AgentId,
    AgentId,
    AgentId,
  ];

  async function family(): Promise<{ test: TestGovernance; agents: TestAgent[] }> {
    const test = await testGovernance();
    const agents = [
      await test.register(root),
      await test.register(middle, { parent: root }),
      await test.register(leaf, { parent: middle }),
    ];
    return { test, agents };
  }

  test('tells its root, its parent and its depth', async () => {
    const { test } = await family();
    expect(test.known(root).lineage).toMatchObject({ root_agent_id: 'root', parent_agent_id: null, depth: 0 });
    expect(test.known(middle).lineage).toMatchObject({ root_agent_id: 'root', parent_agent_id: 'root', depth: 1 });
    expect(test.known(leaf).lineage).toMatchObject({ root_agent_id: 'root', parent_agent_id: 'middle', depth: 2 });
  });

  test('follows a parent that moves under another', async () => {
    const { test } = await family();
    const above = agentId('acme/search/above');
    await test.register(above);
    await test.register(root, { parent: above });
    expect(test.known(leaf).lineage).toMatchObject({ root_agent_id: 'above', parent_agent_id: 'middle', depth: 3 });
    await test.register(root);
    expect(test.known(leaf).lineage).toMatchObject({ root_agent_id: 'root', depth: 2 });
  });

  test('still names a parent that has left, and is whole again when it comes back', async () => {
    const { test, agents } = await family();
    await test.deregister(agents[1] as TestAgent);
    expect(test.known(leaf).lineage).toMatchObject({ root_agent_id: 'middle', parent_agent_id: 'middle', depth: 1 });
    await test.register(middle, { parent: root });
    expect(test.known(leaf).lineage).toMatchObject({ root_agent_id: 'root', parent_agent_id: 'middle', depth: 2 });
  });

  test('is on every entry about it', async () => {
    const { test, agents } = await family();
    await test.check(agents[2] as TestAgent);
    expect((await test.audit()).at(-1)?.lineage).toEqual({
      org_id: 'acme',
      team_id: 'other',
      agent_id: 'leaf',
      root_agent_id: 'root',
      parent_agent_id: 'middle',
      depth: 2,
    });
  });

  test.each([
    ['itself', root, root],
    ['its child', root, middle],
    ['its grandchild', root, leaf],
  ])('cannot have the agent below %s', async (_, child, parent) => {
    const { test } = await family();
    await expect(test.register(child, { parent })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'parent_agent_id: must not be the agent itself or one below it',
    });
    expect(test.known(root).lineage.depth).toBe(0);
  });

  test('cannot become a circle by an agent that leaves and comes back below its own child', async () => {
    const { test, agents } = await family();
    await test.deregister(agents[0] as TestAgent);
    for (const parent of [middle, leaf]) {
      await expect(test.register(root, { parent })).rejects.toMatchObject({
        code: 'invalid_argument',
        message: 'parent_agent_id: must not be the agent itself or one below it',
      });
    }
  });

  test('may be 64 deep and no deeper', async () => {
    const test = await testGovernance();
    let parent: AgentId | undefined;
    for (let depth = 0; depth <= 64; depth++) {
      const id = agentId(`acme//a${depth}`);
      await test.register(id, parent === undefined ? {} : { parent });
      parent = id;
    }
    const deeper = test.register(agentId('acme//deeper'), parent === undefined ? {} : { parent });
    await expect(deeper).rejects.toMatchObject({ message: 'parent_agent_id: would make the lineage deeper than 64' });
  });

  test('does not get deeper than 64 by moving those who have others below them', async () => {
    const test = await testGovernance();
    const chain = async (prefix: string) => {
      for (let depth = 0; depth <= 40; depth++) {
        const parent = depth === 0 ? {} : { parent: agentId(`acme//${prefix}${depth - 1}`) };
        await test.register(agentId(`acme//${prefix}${depth}`), parent);
      }
    };
    await chain('upper');
    await chain('lower');
    const joined = test.register(agentId('acme//lower0'), { parent: agentId('acme//upper40') });
    await expect(joined).rejects.toMatchObject({ message: 'parent_agent_id: would make the lineage deeper than 64' });
  });
});
