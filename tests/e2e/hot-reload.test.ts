import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { TestGateway, toolCall } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';

/* Every rule in force names its state, and each state decides differently. So an answer from two states at once
   would show. */

let gateway: TestGateway;
let policies: Policies;
let agents: Registered[];
beforeAll(async () => {
  gateway = await TestGateway.start({
    policies: { 'base.yaml': 'name: base\ndefault: deny\n', 'a.yaml': filed('a', 0) },
  });
  policies = new Policies(gateway);
  await policies.put('c', filed('c', 0));
  agents = await Promise.all(['x', 'y', 'z'].map((agentId) => gateway.register({ agentId })));
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** In state n the tool is allowed if n is even, and denied by a rule if n is odd. */
function filed(name: string, n: number): string {
  return `name: ${name}\nrules:\n  - {name: s${n}, effect: ${n % 2 === 0 ? 'allow' : 'deny'}, tools: [tool_${name}]}\n`;
}

interface Asked {
  readonly opId: string;
  readonly decision: number;
  readonly policyRule: string;
}

/** Checks without a break, several at a time, until `stop`. Every check must be answered. */
function load(): { readonly answers: Asked[]; stop(): Promise<void> } {
  const answers: Asked[] = [];
  const state = { asking: true };
  const askers = agents.flatMap((agent) =>
    ['tool_a', 'tool_b', 'tool_c'].map(async (tool) => {
      while (state.asking) {
        const { opId, decision, policyRule } = await gateway.check(agent, { context: toolCall(tool) });
        answers.push({ opId, decision, policyRule });
      }
    }),
  );
  return {
    answers,
    stop: async () => {
      state.asking = false;
      await Promise.all(askers);
    },
  };
}

test('checks in flight while file, folder and store change are all answered, each by one version', async () => {
  const { answers, stop } = load();
  for (let n = 1; n <= 30; n++) {
    gateway.writePolicy('a.yaml', filed('a', n));
    if (n % 3 === 0) rmSync(join(gateway.folder, 'policies', 'b.yaml'), { force: true });
    else gateway.writePolicy('b.yaml', filed('b', n));
    // Now and then, a broken file that must not come into force. It blocks the folder, while the store goes on.
    if (n % 7 === 0) gateway.writePolicy('broken.yaml', 'name: [');
    else rmSync(join(gateway.folder, 'policies', 'broken.yaml'), { force: true });
    if (n % 10 === 0) expect((await policies.delete('c')).status).toBe(204);
    else await policies.put('c', filed('c', n));
    expect((await policies.tryPut('c', 'rules: 1')).status).toBe(422);
    await sleep(30);
  }
  await stop();
  expect(answers.length).toBeGreaterThan(200);

  for (const { decision, policyRule } of answers) {
    const n = Number(/\/s(\d+)$/.exec(policyRule)?.[1] ?? 1);
    expect({ policyRule, decision }).toEqual({ policyRule, decision: n % 2 === 0 ? 1 : 2 });
  }

  const entries = gateway.audit().filter((entry) => entry.op_id !== null);
  const recorded = new Map(entries.map((entry) => [entry.op_id, entry]));
  expect(recorded.size).toBe(answers.length);
  /** The answer of each version for each tool. There must be only one. */
  const said = new Map<string, string | null>();
  for (const { opId, decision, policyRule } of answers) {
    const entry = recorded.get(opId);
    expect(entry).toMatchObject({ decision: decision === 1 ? 'allow' : 'deny', policy_rule: policyRule });
    const key = `${entry?.policy_version} ${String(entry?.payload['resource'])}`;
    expect(said.get(key) ?? policyRule).toBe(policyRule);
    said.set(key, policyRule);
  }
  expect(new Set(entries.map((entry) => entry.policy_version)).size).toBeGreaterThan(10);

  // Decisions name only versions that the log shows in force, and the stored document decides as its version says.
  const { items } = (await policies.versions('c', '?per_page=1000')).body;
  const rules = new Map(items.map(({ version, source }) => [version, /name: (s\d+)/.exec(source ?? '')?.[1]]));
  let current: string | null = null;
  let stored: string | undefined;
  for (const { event_type, policy_version, policy_rule, op_id, payload } of gateway.audit()) {
    if (event_type === 'PolicyReloaded') {
      current = policy_version;
      if (payload['name'] === 'c') stored = rules.get(Number(payload['version']));
    } else if (op_id !== null) {
      expect(policy_version).toBe(current);
      if (payload['resource'] === 'tool_c') expect(policy_rule).toBe(stored === undefined ? 'default' : `c/${stored}`);
    }
  }
  expect(rules.size).toBeGreaterThan(25);
});
