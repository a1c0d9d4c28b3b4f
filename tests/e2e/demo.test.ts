import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { HttpClient } from '../harness/http-client.ts';

interface Started {
  readonly http: string;
  readonly grpc: string;
  readonly email: string;
  readonly password: string;
  readonly api_key: string;
}

interface List<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

interface Covered {
  readonly agent_id: string;
  readonly spent_today_usd: string;
  readonly doors: readonly { readonly door: string }[];
  readonly uncovered: readonly string[];
}

let child: ChildProcess;
let folder: string;
let started: Started;
let api: HttpClient;
let stderr = '';

function startDemo(at = ['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0']): ChildProcess {
  // The demo must ignore the environment of a real gateway. This variable would make the start fail.
  const env = { ...process.env, TMPDIR: folder, SVC_DATABASE_URL: 'postgres://127.0.0.1:1/production' };
  const args = ['demo', ...at, '--output', 'json'];
  return spawn('node_modules/.bin/reeve', args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** All processes below one, by their ids. */
function descendants(pid: number | undefined): number[] {
  const list = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout;
  const pairs = list
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number | undefined): number[] =>
    pairs.filter(([, of]) => of === parent).flatMap(([id = 0]) => [id, ...below(id)]);
  return below(pid);
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-demo-test-'));
  child = startDemo();
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  started = JSON.parse(line.toString()) as Started;
  api = new HttpClient(started.http);
});

afterAll(() => {
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const read = async <Answer>(path: string) => (await api.get<Answer>(path, started.api_key)).body;
const entries = async (query: string) => (await read<List<{ reason: string }>>(`/api/v1/logs?${query}`)).items;

describe('reeve demo', () => {
  test('prints a login that works, and serves the dashboard', async () => {
    const { email, password } = started;
    const login = await api.post('/api/v1/auth/login', undefined, { email, password });
    expect(login.status).toBe(200);
    const page = await fetch(started.http, { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  });

  test('has three orgs with a dozen agents, some of them with a parent', async () => {
    await eventually(async () => {
      const { agents, orgs } = await read<{ agents: { depth: number }[]; orgs: { org_id: string }[] }>(
        '/api/v1/topology/overview',
      );
      expect(orgs.map(({ org_id: id }) => id).toSorted()).toEqual(['demo-acme', 'demo-globex', 'demo-initech']);
      expect(agents.length).toBeGreaterThanOrEqual(12);
      expect(agents.filter(({ depth }) => depth > 0)).toHaveLength(3);
    });
  });

  test.each([
    ['work', 'decision=allow', /allowed by rule demo\//],
    ['ask for approval', 'event_type=ApprovalRequested', /approval required by rule demo\/large-refunds/],
    ['are denied', 'decision=deny&q=no-secrets', /denied by rule demo\/no-secrets/],
    ['are held to the rules of their own team', 'q=acme-support/no-exports', /denied by rule acme-support\/no-exports/],
    ['try to impersonate each other', 'event_type=A2AImpersonationAttempted', /registered to a different agent/],
  ])('its agents %s', async (_what, query, reason) => {
    await eventually(async () => {
      const found = await entries(query);
      expect(found.map((entry) => entry.reason)).toContainEqual(expect.stringMatching(reason));
    }, 200);
  });

  test.each([
    ['calls tools through the MCP proxy', 'agent_id=help-desk&decision=allow', /allowed by rule demo\/ticket-server/],
    ['is held before it closes a ticket', 'agent_id=help-desk&decision=pending', /closing-tickets/],
    ['meets a server that changes a tool', 'event_type=ToolDefinitionChanged', /"tickets".*answer_ticket/],
    ['calls models through the model proxy', 'agent_id=campaigner&decision=allow', /allowed by rule demo\/models/],
    ['asks by the hook before it uses a tool', 'agent_id=coder&decision=allow', /allowed by rule demo\/shells/],
    ['is denied a command by the hook', 'agent_id=coder&decision=deny', /denied by rule demo\/no-destruction/],
    ['is held before it pushes', 'agent_id=coder&decision=pending', /approval required by rule demo\/pushes/],
    ['gets its verdict from a colleague', 'event_type=ApprovalGranted', /approved by devi@example.com/],
  ])('an agent that knows nothing of Reeve %s', { timeout: 90_000 }, async (_what, query, reason) => {
    await eventually(async () => {
      const found = await entries(query);
      expect(found.map((entry) => entry.reason)).toContainEqual(expect.stringMatching(reason));
    }, 1200);
  });

  test.each([
    ['for a member of staff', 'user=devi@example.com&decision=allow', /allowed by rule office\/for-somebody/],
    ['and is denied for a contractor', 'user=carl&decision=deny', /denied by rule office\/no-payroll-for-contractors/],
    ['and is held before it pays', 'user=devi&decision=pending', /approval required by rule office\/expenses/],
    ['by a delegate', 'agent_id=scheduler&decision=allow', /allowed by rule office\/for-somebody/],
    ['by a delegate, within limits', 'agent_id=scheduler&decision=deny', /delegat/],
    ['as a job without a secret', 'agent_id=nightly&decision=allow', /allowed by rule demo\/reading/],
  ])('an agent acts %s', { timeout: 60_000 }, async (_what, query, reason) => {
    await eventually(async () => {
      const found = await entries(query);
      expect(found.map((entry) => entry.reason)).toContainEqual(expect.stringMatching(reason));
    }, 800);
  });

  test('a run that has read a page of a stranger bears a label, and may send nothing any more', {
    timeout: 60_000,
  }, async () => {
    await eventually(async () => {
      const { items } =
        await read<List<{ run_id: string; labels: { policy_rule: string }[]; denied: number }>>(
          '/api/v1/runs?label=untrusted',
        );
      const stopped = items.find(({ denied }) => denied > 0);
      expect(stopped?.labels).toMatchObject([{ policy_rule: 'inbox/from-strangers' }]);
      expect(stopped?.run_id).toMatch(/^secretary-/);
    }, 800);
  });

  test('people are on record, and a delegate stands below its delegator', { timeout: 60_000 }, async () => {
    await eventually(async () => {
      const { items } = await read<List<{ user: { email: string }; deny: number }>>('/api/v1/people?org_id=demo-acme');
      expect(items.map(({ user }) => user.email).toSorted()).toEqual([
        'carl@contractors.example.com',
        'devi@example.com',
      ]);
      expect(items.find(({ user }) => user.email.startsWith('carl'))?.deny).toBeGreaterThan(0);
    }, 800);
    const scheduler = await read('/api/v1/agents/demo-acme/office/scheduler');
    expect(scheduler).toMatchObject({ delegation: { by: { agent_id: 'assistant' }, tools: ['calendar.*'] } });
  });

  test('what an agent asked for in the name of a person waits for somebody else', { timeout: 60_000 }, async () => {
    await eventually(async () => {
      const { items } = await read<List<{ id: string; policy_rule: string; user: { sub: string } | null }>>(
        '/api/v1/approvals?agent_id=assistant',
      );
      expect(items[0]).toMatchObject({
        policy_rule: 'office/expenses',
        user: { sub: 'devi' },
        approvers: { not_user: true },
      });
      const approved = await api.post(`/api/v1/approvals/${items[0]?.id}/approve`, started.api_key, { reason: 'fine' });
      expect(approved.status).toBe(200);
    }, 800);
  });

  test('coverage shows by which doors they come, with costs of real tokens', { timeout: 60_000 }, async () => {
    await eventually(async () => {
      const { items } = await read<List<Covered>>('/api/v1/agents?per_page=100');
      const seen = items.flatMap(({ agent_id: id, doors, uncovered }) =>
        doors.map(({ door }) => [id, door, uncovered]),
      );
      expect(seen).toContainEqual(['help-desk', 'mcp', ['model_calls']]);
      expect(seen).toContainEqual(['campaigner', 'model', ['tools']]);
      expect(seen).toContainEqual(['coder', 'hook', ['model_calls']]);
      const unchecked = items.filter(({ uncovered }) => uncovered.includes('tools'));
      expect(
        unchecked.map(({ agent_id: id }) => id),
        'a warning stands where something is to be done',
      ).toEqual(['campaigner']);
      expect(Number(items.find(({ agent_id: id }) => id === 'campaigner')?.spent_today_usd)).toBeGreaterThan(0);
    }, 800);
  });

  test('its agents spend', async () => {
    await eventually(async () => {
      const { items } = await read<List<{ tier: string; spent_usd: string }>>('/api/v1/budgets');
      expect(Number(items.find(({ tier }) => tier === 'global')?.spent_usd)).toBeGreaterThan(0);
    }, 200);
  });

  test('one of them receives a stop and does not obey it', async () => {
    const { items } = await read<List<{ op_id: string }>>('/api/v1/ops?agent_id=stubborn&state=running');
    const id = encodeURIComponent(`demo-globex/platform/stubborn/${items[0]?.op_id}`);
    const { body } = await api.post<{ control: { id: string } }>(`/api/v1/ops/${id}/terminate`, started.api_key, {});
    await eventually(async () => {
      const control = await read<{ status: string; effective_at: string | null }>(`/api/v1/control/${body.control.id}`);
      expect(control).toMatchObject({ status: 'acked', effective_at: null });
    });
  });

  test('an approval lets the refund happen', async () => {
    const { items } = await read<List<{ id: string; op_id: string; policy_rule: string }>>('/api/v1/approvals');
    const refund = items.find(({ policy_rule: rule }) => rule === 'demo/large-refunds');
    const { status } = await api.post(`/api/v1/approvals/${refund?.id}/approve`, started.api_key, { reason: 'fine' });
    expect(status).toBe(200);
    await eventually(async () => {
      const found = await read<List<{ event_type: string }>>(`/api/v1/logs?op_id=${refund?.op_id}`);
      expect(JSON.stringify(found.items)).toContain('"completing"');
    }, 400);
  });

  test('has colleagues, an open invite, and a policy with a history', async () => {
    expect(
      (await read<List<{ email: string }>>('/api/v1/accounts')).items.map(({ email }) => email).toSorted(),
    ).toEqual(['demo@example.com', 'devi@example.com', 'vera@example.com']);
    expect((await read<List<object>>('/api/v1/auth/invites')).items).toHaveLength(1);
    expect((await read<List<object>>('/api/v1/policies/acme-support/versions')).items).toHaveLength(2);
  });

  test('ends cleanly when it is interrupted, and leaves nothing', async () => {
    expect(readdirSync(folder).filter((name) => name.startsWith('reeve-demo-'))).toHaveLength(1);
    const children = descendants(child.pid);
    expect(children.length).toBeGreaterThanOrEqual(3);
    child.kill('SIGINT');
    if (child.exitCode === null) await once(child, 'close');
    expect([child.exitCode, stderr]).toEqual([0, expect.stringMatching(/^Removed: \S+reeve-demo-\S+, with .*\n$/)]);
    expect(readdirSync(folder).filter((name) => name.startsWith('reeve-demo-'))).toEqual([]);
    expect(existsSync(folder)).toBe(true);
    expect(children.filter(isAlive)).toEqual([]);
  });

  test('takes a free port where its usual one is in use', async () => {
    const usual = createServer();
    const isTaken = await new Promise<boolean>((resolve) => {
      usual.once('error', () => resolve(true));
      usual.listen(8080, '127.0.0.1', () => resolve(true));
    });
    expect(isTaken).toBe(true);
    const second = startDemo(['--grpc', '127.0.0.1:0']);
    const [line] = (await once(second.stdout ?? second, 'data')) as [Buffer];
    expect((JSON.parse(line.toString()) as Started).http).not.toContain(':8080');
    second.kill('SIGINT');
    await once(second, 'close');
    usual.close();
  });

  test('leaves no process behind when it is killed', async () => {
    const killed = startDemo();
    await once(killed.stdout ?? killed, 'data');
    // The MCP proxy, its server, and the model proxy.
    const children = await eventually(() => {
      const all = descendants(killed.pid);
      expect(all.length).toBeGreaterThanOrEqual(3);
      return all;
    }, 400);
    killed.kill('SIGKILL');
    await once(killed, 'close');
    await eventually(() => expect(children.filter(isAlive)).toEqual([]), 400);
  });
});
