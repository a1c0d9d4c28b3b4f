import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bounds } from '@reeve/contract';
import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, runServe, TestGateway, toolCall } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { Policies } from '../harness/policies.ts';
import { durableStores, postgresStore } from '../harness/stores.ts';

const starter = 'name: starter\ndefault: deny\nrules:\n  - {name: find, effect: allow, tools: [search]}\n';

describe('a stored policy', () => {
  let gateway: TestGateway;
  let policies: Policies;
  let agent: Registered;
  beforeAll(async () => {
    gateway = await TestGateway.start({ policies: { 'starter.yaml': starter } });
    policies = new Policies(gateway);
    agent = await gateway.register({ agentId: 'a' });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const check = (tool: string) => gateway.check(agent, { context: toolCall(tool) });

  test('may have 2,000 rules of 200 characters each, and may be validated, tried and pushed as long as it is', async () => {
    const rules = Array.from({ length: 2000 }, (_, at) => {
      const rule = `  - {name: rule-${at}, effect: allow, tools: [tool_${at}, "${'x'.repeat(20)}_${at}_*"]`;
      return `${rule}, when: 'size(args) < ${at + 10}'} # `.padEnd(199, '.');
    });
    const source = `rules:\n${rules.join('\n')}\n`;
    expect(source.length).toBeGreaterThan(400_000);
    expect((await policies.validate(source, 'long')).body).toEqual({ valid: true, errors: [] });
    const tried = await gateway.api.post<{ decision: string; policy_rule: string }>(
      '/api/v1/policies/simulate',
      bootstrapKey,
      {
        agent: { agent_id: 'a' },
        action_type: 'tool_call',
        context: { tool_name: 'tool_1999', args: {} },
        candidate: `name: long\n${source}`,
      },
    );
    expect(tried).toMatchObject({ status: 200, body: { decision: 'allow', policy_rule: 'long/rule-1999' } });
    expect(await policies.put('long', source)).toMatchObject({ rules: 2000, source });
    expect(await check('tool_1999')).toMatchObject({ decision: 1, policyRule: 'long/rule-1999' });
    expect((await policies.delete('long')).status).toBe(204);
    const { status, body } = await policies.tryPut(
      'long',
      `${source}# ${'.'.repeat(bounds.policySource - source.length)}`,
    );
    expect([status, body.code, body['errors']]).toEqual([
      422,
      'validation_failed',
      [expect.objectContaining({ pointer: '/source' })],
    ]);
  });

  test('is in force from the answer on, together with the files', async () => {
    const before = (await policies.list()).policy_version;
    const put = await policies.put('mail', 'rules:\n  - {name: send, effect: allow, tools: [send_mail]}\n', {
      note: 'for the newsletter',
    });
    expect(put).toMatchObject({
      name: 'mail',
      scope: 'global',
      mode: 'enforce',
      default: null,
      rules: 1,
      origin: 'store',
      file: null,
      version: 1,
      updated_by: { kind: 'api_key', id: 'abcdefghijkl' },
    });
    expect(await check('send_mail')).toMatchObject({ decision: 1, policyRule: 'mail/send' });
    expect(await check('search')).toMatchObject({ decision: 1, policyRule: 'starter/find' });
    const { items, total, policy_version } = await policies.list();
    expect(items).toMatchObject([
      { name: 'mail', origin: 'store', version: 1 },
      { name: 'starter', origin: 'file', file: 'starter.yaml', version: null, updated_at: null, updated_by: null },
    ]);
    expect(total).toBe(2);
    expect(policy_version).not.toBe(before);
    expect((await gateway.heartbeat(agent)).policyVersion).toBe(policy_version);
    expect(gateway.audit().findLast(({ event_type }) => event_type === 'PolicyReloaded')).toMatchObject({
      actor: { kind: 'api_key', id: 'abcdefghijkl' },
      policy_version,
      payload: { name: 'mail', version: 1, previous_version: before, change: 'put', note: 'for the newsletter' },
    });
  });

  test('can be read with its text, and so can that of a file', async () => {
    expect((await policies.get('mail')).body).toMatchObject({ name: 'mail', source: expect.stringContaining('send') });
    expect((await policies.get('starter')).body.source).toBe(starter);
    expect((await policies.get<Problem>('nothing')).body).toMatchObject({ status: 404, code: 'policy_not_found' });
  });

  test.each([
    ['an unknown key', 'scope: global\nrulez: []', [[2, 1, /unknown key "rulez"/]]],
    ['a wrong type', 'rules:\n  - {name: x, effect: perhaps}', [[2, 23, /"effect" must be/]]],
    ['a bad glob', 'rules:\n  - name: x\n    effect: deny\n    tools: ["a[b"]', [[4, 15, /bad glob/]]],
    ['CEL that does not parse', 'rules:\n  - effect: deny\n    when: agent.depth >', [[3, 24, /bad "when"/]]],
    ['CEL of the wrong type', 'rules:\n  - effect: deny\n    when: agent.depth + 1', [[3, 11, /true or false/]]],
    ['two rules of one name', 'rules:\n  - {name: a, effect: deny}\n  - {name: a, effect: deny}', [[3, 12, /already/]]],
    ['another name', 'name: other', [[1, 7, /"name" must be "bad"/]]],
    ['several documents', 'default: deny\n---\ndefault: deny', [[3, 1, /one document/]]],
    ['no document', '', [[1, 1, /no policy document/]]],
    ['a wrong scope', 'scope: org:a/b', [[1, 8, /"scope" must be/]]],
    ['a default outside the global scope', 'scope: org:acme\ndefault: allow', [[2, 1, /"default" belongs/]]],
    ['broken YAML', 'rules: [', [[1, 9, /./]]],
  ])('with %s is refused with file, line and column', async (_, source, places) => {
    const { status, body } = await policies.tryPut('bad', source);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'policy_invalid' });
    expect(body.errors).toEqual(
      places.map(([line, column, message]) => ({
        file: 'bad',
        line,
        column,
        message: expect.stringMatching(message as RegExp) as string,
      })),
    );
    expect(await policies.names()).not.toContain('bad');
    expect((await policies.validate(source, 'bad')).body).toEqual({ valid: false, errors: body.errors });
  });

  test('may not take a file’s name, nor bring a second global budget', async () => {
    expect((await policies.tryPut('starter', 'default: allow')).body).toMatchObject({
      status: 409,
      code: 'policy_in_file',
      detail: expect.stringContaining('file'),
    });
    expect((await policies.delete('starter')).body).toMatchObject({ status: 409, code: 'policy_in_file' });
    await policies.put('money', 'budget: {daily_limit_usd: 5}');
    const second = await policies.tryPut('less', 'default: deny\nbudget: {daily_limit_usd: 1}');
    expect(second.body.errors).toMatchObject([{ file: 'less', line: 2, column: 1 }]);
    expect((await policies.delete('money')).status).toBe(204);
  });

  test('may carry a condition, which decides', async () => {
    await policies.put('deep', 'rules:\n  - {name: no, effect: deny, when: "args.n > 3"}');
    const search = (n: number) => gateway.check(agent, { context: toolCall('search', { n }) });
    expect([(await search(4)).policyRule, (await search(1)).policyRule]).toEqual(['deep/no', 'starter/find']);
    expect((await policies.delete('deep')).status).toBe(204);
  });

  test('is versioned: who, when and why, and any version can be gone back to', async () => {
    const text = (n: number) => `# ${n}\nrules:\n  - {name: r${n}, effect: allow, tools: [versioned]}\n`;
    for (const n of [1, 2, 3]) expect((await policies.put('many', text(n), { note: `n ${n}` })).version).toBe(n);
    expect((await check('versioned')).policyRule).toBe('many/r3');
    const back = await policies.rollback('many', 1, { note: 'three was wrong' });
    expect(back.body).toMatchObject({ version: 4, source: text(1) });
    expect((await check('versioned')).policyRule).toBe('many/r1');
    const { body } = await policies.versions('many');
    expect(body).toMatchObject({ total: 4, next_cursor: null });
    expect(body.items).toMatchObject([
      { version: 4, source: text(1), note: 'three was wrong', current: true, saved_by: { kind: 'api_key' } },
      { version: 3, source: text(3), note: 'n 3', current: false },
      { version: 2, current: false },
      { version: 1, current: false },
    ]);
    const first = (await policies.versions('many', '?per_page=3')).body;
    expect(first.items.map(({ version }) => version)).toEqual([4, 3, 2]);
    const rest = (await policies.versions('many', `?per_page=3&cursor=${first.next_cursor}`)).body;
    expect(rest.items.map(({ version }) => version)).toEqual([1]);
    expect((await policies.rollback<Problem>('many', 9)).body).toMatchObject({ code: 'policy_version_not_found' });
    expect((await policies.rollback<Problem>('starter', 1)).body).toMatchObject({ code: 'policy_not_found' });
  });

  test('that was deleted is out of force, and its versions stay', async () => {
    await policies.put('brief', 'rules:\n  - {name: r, effect: allow, tools: [brief]}');
    expect((await policies.delete('brief')).status).toBe(204);
    expect(await check('brief')).toMatchObject({ decision: 2, policyRule: 'default' });
    expect((await policies.get<Problem>('brief')).status).toBe(404);
    expect((await policies.delete('brief')).body).toMatchObject({ status: 404, code: 'policy_not_found' });
    expect((await policies.versions('brief')).body.items).toMatchObject([{ source: null, current: false }, {}]);
    expect((await policies.rollback('brief', 1)).body).toMatchObject({ version: 3 });
    expect((await check('brief')).policyRule).toBe('brief/r');
  });

  test('is stored on the version that was edited, or not at all', async () => {
    await policies.put('edited', 'rules: []', { base_version: 0 });
    const stale = await policies.tryPut('edited', 'rules: []', { base_version: 0 });
    expect(stale.body).toMatchObject({ status: 409, code: 'policy_changed', version: 1 });
    const at = await Promise.all(
      Array.from({ length: 8 }, (_, n) => policies.tryPut('edited', `# ${n}\nrules: []`, { base_version: 1 })),
    );
    expect(at.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 409),
    ]);
    expect((await policies.versions('edited')).body.total).toBe(2);
  });

  test('that is put many times at once without a base has a version for each', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => policies.put('crowd', `# ${n}\nrules: []`)));
    const { items, total } = (await policies.versions('crowd')).body;
    expect(total).toBe(20);
    expect(new Set(items.map(({ source }) => source)).size).toBe(20);
    expect((await policies.get('crowd')).body.source).toBe(items[0]?.source);
  });

  test('is set aside while a file has its name, and comes back when the file goes', async () => {
    await policies.put('taken', 'rules:\n  - {name: stored, effect: allow, tools: [taken]}');
    gateway.writePolicy('late.yaml', '# late\nname: taken\nrules:\n  - {name: filed, effect: allow, tools: [taken]}\n');
    await eventually(async () => expect((await check('taken')).policyRule).toBe('taken/filed'));
    const { status, body } = await gateway.ready();
    expect({ status, is: body.status }).toEqual({ status: 200, is: 'degraded' });
    expect(body.parts['policy']?.detail).toMatch(/^late\.yaml:2:7: this file counts/);
    expect((await policies.tryPut('taken', 'rules: []')).body).toMatchObject({ status: 409, code: 'policy_in_file' });
    await policies.put('unrelated', 'rules: []');
    expect((await gateway.ready()).body.status).toBe('degraded');
    rmSync(join(gateway.folder, 'policies', 'late.yaml'));
    await eventually(async () => expect((await check('taken')).policyRule).toBe('taken/stored'));
    expect((await gateway.ready()).body.status).toBe('ok');
    gateway.writePolicy('late.yaml', 'name: taken\nrules:\n  - {name: filed, effect: allow, tools: [taken]}\n');
    await eventually(async () => expect((await gateway.ready()).body.status).toBe('degraded'));
    expect((await policies.delete('taken')).status).toBe(204);
    await eventually(async () => expect((await gateway.ready()).body.status).toBe('ok'));
    expect((await check('taken')).policyRule).toBe('taken/filed');
    rmSync(join(gateway.folder, 'policies', 'late.yaml'));
    await eventually(async () => expect((await check('taken')).policyRule).toBe('default'));
  });

  test('is listed in pages by name', async () => {
    const all = await policies.names();
    expect(all).toEqual(all.toSorted());
    const first = await policies.list('?per_page=2');
    const second = await policies.list(`?per_page=1000&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(all);
    expect(second.next_cursor).toBeNull();
  });

  test('is told of as an event', async () => {
    const socket = await EventSocket.open(gateway.http, { query: { types: 'policy' } });
    await policies.put('told', 'scope: team:acme/core');
    const event = await eventually(() => {
      const found = socket.messages.find((message) => message.event_type === 'policy');
      if (found === undefined) throw new Error('no event yet');
      return found;
    });
    expect(event).toMatchObject({
      org_id: 'acme',
      team_id: 'core',
      payload: { error: null, document: { name: 'told', version: 1, scope: 'team:acme/core', change: 'put' } },
    });
    socket.socket.close();
  });

  test('needs admin scope to be changed, and read scope to be seen', async () => {
    const { key } = await makeKey(gateway, { scopes: ['write'] });
    const writer = new Policies(gateway, key);
    for (const refused of [
      await writer.tryPut('x', 'rules: []'),
      await writer.delete('mail'),
      await writer.rollback<Problem>('mail', 1),
    ]) {
      expect(refused.body).toMatchObject({ status: 403, code: 'insufficient_scope', required_scope: 'admin' });
    }
    expect((await writer.get('mail')).status).toBe(200);
    expect((await gateway.api.get<Problem>('/api/v1/policies')).status).toBe(401);
  });

  test('has a JSON Schema, which is there for everyone', async () => {
    const answer = await gateway.api.get<{ $schema: string }>('/api/v1/policy-schema');
    expect(answer.status).toBe(200);
    expect(answer.body.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  });
});

describe('tenants', () => {
  let gateway: TestGateway;
  let whole: Policies;
  let acme: Policies;
  let red: Policies;
  let acmeKey: string;
  beforeAll(async () => {
    const files = 'name: umbrella-file\nscope: org:umbrella\n---\nname: acme-file\nscope: org:acme\n# ours\n';
    gateway = await TestGateway.start({
      policies: { 'tenants.yaml': files, 'base.yaml': 'name: base\ndefault: deny\n' },
    });
    whole = new Policies(gateway);
    await whole.put('umbrella-own', 'scope: org:umbrella');
    await whole.put('once-umbrella', 'scope: org:umbrella\n# a secret of umbrella');
    await whole.put('once-umbrella', 'scope: org:acme');
    const bound = { scopes: ['admin' as const], org_id: 'acme' };
    acmeKey = (await makeKey(gateway, bound)).key;
    acme = new Policies(gateway, acmeKey);
    red = new Policies(gateway, (await makeKey(gateway, { ...bound, team_id: 'red' })).key);
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('a bound admin puts documents of its own tenant and of no other', async () => {
    await acme.put('acme-own', 'scope: org:acme');
    await acme.put('acme-team', 'scope: team:acme/red');
    await red.put('red-agent', 'scope: agent:acme/red/bot');
    for (const scope of ['global', 'org:umbrella', 'agent:umbrella/red/bot', 'agent://bot']) {
      const { body } = await acme.tryPut('elsewhere', `scope: ${scope}`);
      expect(body, scope).toMatchObject({ status: 403, code: 'tenant_bound' });
    }
    for (const scope of ['org:acme', 'team:acme/blue']) {
      expect((await red.tryPut('elsewhere', `scope: ${scope}`)).body).toMatchObject({ code: 'tenant_bound' });
    }
    expect((await red.put('acme-own', 'scope: team:acme/red')).name).toBe('acme/red/acme-own');
    expect((await red.delete('acme-own')).status).toBe(204);
    expect((await whole.names()).includes('elsewhere')).toBe(false);
  });

  test('a bound credential sees its own documents, and neither files nor versions of others', async () => {
    const own = ['acme-file', 'acme/acme-own', 'acme/acme-team', 'acme/red/red-agent', 'once-umbrella'];
    expect(await acme.names()).toEqual(own);
    expect((await acme.list()).total).toBe(own.length);
    expect(await red.names()).toEqual(['acme/acme-team', 'acme/red/red-agent']);
    expect(await whole.names('?org_id=acme')).toEqual(own);
    expect(await acme.names('?org_id=umbrella')).toEqual([]);
    expect((await acme.list('?org_id=umbrella')).total).toBe(0);
    const file = (await acme.get('acme-file')).body;
    expect(file).toMatchObject({ origin: 'file', file: null });
    expect(file.source).not.toContain('umbrella');
    const moved = (await acme.versions('once-umbrella')).body;
    expect(moved).toMatchObject({ total: 1, items: [{ version: 2 }] });
    expect((await acme.rollback<Problem>('once-umbrella', 1)).status).toBe(404);
  });

  test('names of others are answered alike, whoever has them and wherever', async () => {
    const answers = [];
    for (const name of ['base', 'umbrella-file', 'umbrella-own', 'nobodys']) {
      const got = [
        await acme.get<Problem>(name),
        await acme.versions<Problem>(name),
        await acme.delete(name),
        await acme.rollback<Problem>(name, 1),
      ];
      answers.push(got.map(({ text }) => text.replaceAll(name, 'NAME')));
      expect(got.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    }
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    for (const name of ['base', 'umbrella-file', 'umbrella-own', 'nobodys']) {
      expect((await acme.put(name, 'scope: org:acme')).name).toBe(`acme/${name}`);
      expect((await acme.delete(name)).status).toBe(204);
      expect((await acme.tryPut(`umbrella/${name}`, 'scope: org:acme')).body).toMatchObject({ code: 'tenant_bound' });
    }
  });

  test('what the operator has written for a tenant, the tenant’s admin neither changes, rolls back nor deletes', async () => {
    await whole.put('cap', 'scope: org:acme\nbudget: {daily_limit_usd: 1}');
    await whole.put('cap', 'scope: org:acme\nbudget: {daily_limit_usd: 2}');
    const tries = [
      () => acme.tryPut('cap', 'scope: org:acme\nbudget: {daily_limit_usd: 1000}'),
      () => acme.rollback<Problem>('cap', 1),
      () => acme.delete('cap'),
    ];
    for (const attempt of tries)
      expect((await attempt()).body).toMatchObject({ status: 403, code: 'imposed_by_wider' });
    expect((await whole.delete('cap')).status).toBe(204);
    for (const attempt of tries.slice(0, 2)) {
      expect((await attempt()).body).toMatchObject({ status: 403, code: 'imposed_by_wider' });
    }
    await acme.put('extra', 'scope: org:acme');
    expect((await whole.put('acme/extra', 'scope: org:acme\nrules: []')).width).toBe('unbound');
    expect((await acme.tryPut('extra', 'scope: org:acme')).body).toMatchObject({ code: 'imposed_by_wider' });
    expect((await whole.tryPut('acme/never', 'scope: org:acme')).body).toMatchObject({ status: 404 });
  });

  test('a tenant’s document has its namespace in answers, paths, rules and explanations', async () => {
    const agent = await gateway.register({ orgId: 'acme', teamId: 'red', agentId: 'named' });
    const source = 'name: tools\nscope: team:acme/red\nrules:\n  - {name: find, effect: allow, tools: [search]}\n';
    expect(await red.put('tools', source)).toMatchObject({ name: 'acme/red/tools', width: 'team', version: 1 });
    expect(await red.put('acme/red/tools', source)).toMatchObject({ version: 2 });
    expect((await red.versions('tools')).body.total).toBe(2);
    expect((await acme.get('acme/red/tools')).body.source).toBe(source);
    const answer = await gateway.check(agent, { context: toolCall('search') });
    expect(answer.policyRule).toBe('acme/red/tools/find');
    const explained = await gateway.api.get<{ rules: object[] }>(
      `/api/v1/decisions/${encodeURIComponent(answer.opId)}/explain`,
      acmeKey,
    );
    expect(explained.body).toMatchObject({ policy_rule: 'acme/red/tools/find' });
    expect(explained.body.rules).toContainEqual(expect.objectContaining({ document: 'acme/red/tools', rule: 'find' }));
    expect((await red.delete('tools')).status).toBe(204);
  });

  test('events and entries of changes go to the tenant concerned, and those of others do not', async () => {
    const socket = await EventSocket.open(gateway.http, { bearer: acmeKey, query: { types: 'policy' } });
    await whole.put('umbrella-own', 'scope: org:umbrella\nrules: []');
    await whole.put('everyones', 'rules: []');
    await whole.put('acme-own', 'scope: org:acme\nrules: []');
    await eventually(() => expect(socket.messages.some((message) => message.event_type === 'policy')).toBe(true));
    const events = socket.messages.filter((message) => message.event_type === 'policy');
    expect(events).toMatchObject([{ org_id: 'acme', payload: { document: { name: 'acme-own', change: 'put' } } }]);
    socket.socket.close();
    const { text } = await gateway.api.get('/api/v1/logs?event_type=PolicyReloaded', acmeKey);
    expect(text).toContain('acme-own');
    expect(text).not.toMatch(/"name":"(?:umbrella-|everyones|base)/);
  });

  test('validation tells a bound credential of its own documents only', async () => {
    const told = async (source: string, name?: string) => (await acme.validate(source, name)).body;
    expect(await told('scope: org:acme', 'new')).toEqual({ valid: true, errors: [] });
    expect(await told('scope: org:acme\nname: umbrella-own')).toEqual({ valid: true, errors: [] });
    expect((await told('default: deny', 'new')).errors[0]?.message).toContain('own tenant');
  });
});

describe.each(durableStores)('on $name', ({ open }) => {
  test('stored policies survive a stop and a kill, versions included', async () => {
    await using store = await open();
    const one = await store.start({ policies: { 'base.yaml': 'name: base\ndefault: deny\n' } });
    const text = (n: number) => `rules:\n  - {name: r${n}, effect: allow, tools: [search]}\n`;
    await new Policies(one).put('kept', text(1));
    await one.kill('SIGTERM');
    const two = await store.start({ policies: { 'base.yaml': 'name: base\ndefault: deny\n' } });
    await new Policies(two).put('kept', text(2));
    await new Policies(two).put('gone', 'rules: []');
    expect((await new Policies(two).delete('gone')).status).toBe(204);
    await two.kill('SIGKILL');
    const three = await store.start({ policies: { 'base.yaml': 'name: base\ndefault: deny\n' } });
    const policies = new Policies(three);
    expect(await policies.names()).toEqual(['base', 'kept']);
    const agent = await three.register({ agentId: 'a' });
    expect((await three.check(agent)).policyRule).toBe('kept/r2');
    expect((await policies.rollback('kept', 1)).body.version).toBe(3);
    expect((await three.check(agent)).policyRule).toBe('kept/r1');
  });
});

test('a restart is not refused because a stored policy has the name of a file, or a budget that a file has, too', async () => {
  await using first = await TestGateway.start();
  const source = 'budget: {daily_limit_usd: 3}\nrules:\n  - {name: no, effect: deny, tools: [rm]}\n';
  await new Policies(first).put('mine', 'rules: []');
  await new Policies(first).put('money', source);
  first.writePolicy('clash.yaml', 'default: allow\nname: mine\nbudget: {daily_limit_usd: 7}\n');
  await eventually(async () => expect((await first.ready()).body.status).toBe('degraded'));
  await using gateway = await first.restart('SIGTERM');
  expect((await gateway.ready()).body).toMatchObject({ status: 'degraded' });
  const agent = await gateway.register({ agentId: 'a' });
  expect(await gateway.check(agent, { context: toolCall('search') })).toMatchObject({ decision: 1 });
  // The document's rules are in force although its budget does not count.
  expect((await gateway.check(agent, { context: toolCall('rm') })).policyRule).toBe('money/no');
  const budgets = await gateway.api.get<{ items: object[] }>('/api/v1/budgets?tier=global&period=day', bootstrapKey);
  expect(budgets.body.items).toMatchObject([{ limit_usd: '7.00' }]);
});

test('a bad file stops the start with its position', async () => {
  await using gateway = await TestGateway.start();
  gateway.writePolicy('bad.yaml', 'default: deny\nname: a/b\n');
  await eventually(async () => expect((await gateway.ready()).body.status).toBe('degraded'));
  await gateway.kill('SIGTERM');
  const args = ['--data', gateway.folder, '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'];
  const failed = await runServe(args, { SVC_BOOTSTRAP_API_KEY: bootstrapKey });
  expect(failed.code).toBe(2);
  expect(failed.stderr).toMatch(/bad\.yaml:2:7: "name" must be/);
});

test('without a durable store, stored policies last as long as the process', async () => {
  await using gateway = await TestGateway.start({ args: ['--database', 'memory:'] });
  const policies = new Policies(gateway);
  await policies.put('mine', 'default: allow');
  expect((await policies.rollback('mine', 1)).body.version).toBe(2);
  expect((await policies.versions('mine')).body.total).toBe(2);
});

test('gateways on one database have the same stored policies, and edit them one after the other', async () => {
  await using store = await postgresStore.open();
  const env = { SVC_NATS_URL: (await sharedNats()).url() };
  const [one, two] = [await store.start({ env }), await store.start({ env })];
  const [there, here] = [new Policies(one), new Policies(two)];
  const agent = await two.register({ agentId: 'a' });
  await there.put('base', 'default: allow');
  expect(await two.check(agent)).toMatchObject({ decision: 1 });
  expect((await two.heartbeat(agent)).policyVersion).toBe((await there.list()).policy_version);
  await here.put('base', 'default: deny', { base_version: 1 });
  expect((await there.tryPut('base', 'default: allow', { base_version: 1 })).body).toMatchObject({
    code: 'policy_changed',
  });
  const racing = await Promise.all(
    [there, here, there, here].map((each, n) => each.tryPut('base', `# ${n}\ndefault: deny`, { base_version: 2 })),
  );
  expect(racing.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  await Promise.all([there, here, there, here].map((each, n) => each.put('crowd', `# ${n}\nrules: []`)));
  const [a, b] = [(await there.versions('crowd')).body, (await here.versions('crowd')).body];
  expect(a).toEqual(b);
  expect(a.total).toBe(4);
  expect((await there.get('crowd')).body).toEqual((await here.get('crowd')).body);
  expect((await there.delete('base')).status).toBe(204);
  expect(await two.check(agent)).toMatchObject({ decision: 2 });
  expect((await here.get<Problem>('base')).status).toBe(404);
});

test('of gateways on one database, that with a file of the name goes by the file, and is degraded', async () => {
  await using store = await postgresStore.open();
  const env = { SVC_NATS_URL: (await sharedNats()).url() };
  const one = await store.start({ env });
  const two = await store.start({ env, policies: { 'house.yaml': 'name: house\ndefault: deny\n' } });
  const agent = await two.register({ agentId: 'a' });
  await new Policies(one).put('house', 'default: allow');
  await eventually(async () => expect((await two.ready()).body).toMatchObject({ status: 'degraded' }));
  expect((await two.check(agent)).decision).toBe(2);
  expect((await one.check(agent)).decision).toBe(1);
  expect((await one.ready()).body.status).toBe('ok');
  expect((await new Policies(one).delete('house')).status).toBe(204);
  await eventually(async () => expect((await two.ready()).body).toMatchObject({ status: 'ok' }));
});

test('an observed policy is recorded and counted, and not enforced', async () => {
  await using gateway = await TestGateway.start({ policies: { 'base.yaml': 'name: base\ndefault: allow\n' } });
  const policies = new Policies(gateway);
  const agent = await gateway.register({ agentId: 'a' });
  const rules = 'rules:\n  - {name: no, effect: deny, tools: [search]}\n';
  expect(await policies.put('strict', `mode: observe\n${rules}`)).toMatchObject({ mode: 'observe' });
  expect(await gateway.check(agent)).toMatchObject({ decision: 1, policyRule: 'default' });
  expect(await gateway.check(agent, { context: toolCall('other') })).toMatchObject({ decision: 1 });
  const [first, second] = gateway.audit().filter(({ event_type }) => event_type === 'ActionAllowed');
  expect(first?.payload).toMatchObject({ observed: [{ rule: 'strict/no', effect: 'deny' }] });
  expect(second?.payload).not.toHaveProperty('observed');
  const { text } = await gateway.api.get('/metrics');
  expect(text).toContain('reeve_policy_observed_total{effect="deny"} 1');
  await policies.put('strict', rules);
  expect(await gateway.check(agent)).toMatchObject({ decision: 2, policyRule: 'strict/no' });
});
