import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';

type Approvals = RouteOutput<Routes['listApprovals']>;
type Ops = RouteOutput<Routes['listOps']>;

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

test('without bubblewrap install refuses, says what is missing, and writes nothing', async () => {
  const folder = join(world.home, 'bin');
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, 'node'));
  for (const name of ['readlink', 'sh']) symlinkSync(`/bin/${name}`, join(folder, name));
  const { code, stderr } = await world.reeve(['hook', 'install', 'codex', '--floor'], { PATH: folder });
  expect(stderr).toMatch(/^error: there is no floor on this machine: bubblewrap: .*apt-get install bubblewrap.*\n$/);
  expect(code).toBe(125);
  expect(existsSync(join(world.home, '.codex'))).toBe(false);
});

/** What Claude Code runs for each event, by its settings. */
function hookLine(): string {
  const settings = JSON.parse(world.read('.claude/settings.json')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>;
  };
  return settings.hooks['PreToolUse']?.[0]?.hooks[0]?.command ?? '';
}

interface HookOutput {
  readonly hookSpecificOutput?: {
    readonly permissionDecision?: string;
    readonly permissionDecisionReason?: string;
    readonly updatedInput?: { readonly command: string };
  };
}

async function hook(name: string, id: string, input: object, more: object = {}) {
  const event = { hook_event_name: name, session_id: 's-floor', tool_use_id: id, cwd: world.project, ...more };
  const { stdout, stderr } = await world.shell(
    hookLine(),
    JSON.stringify({ ...event, tool_name: 'Bash', tool_input: input }),
  );
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as HookOutput).hookSpecificOutput ?? {};
}

async function sessionOps(): Promise<Ops['items']> {
  const { body } = await world.gateway.api.get<Ops>('/api/v1/ops?run_id=s-floor&per_page=1000', bootstrapKey);
  return body.items;
}

async function approvals(state: 'open' | 'decided'): Promise<Approvals['items']> {
  return (await world.gateway.api.get<Approvals>(`/api/v1/approvals?state=${state}`, bootstrapKey)).body.items;
}

describe.skipIf(!hasFloor)('a coding agent whose shell is on a floor', () => {
  beforeAll(async () => {
    const { code, stderr } = await world.reeve([
      'hook',
      'install',
      'claude-code',
      '--floor',
      '--agent',
      'acme/core/ada',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('bash -c COMMAND') as string });
    expect(hookLine()).toMatch(/ hook claude-code --agent acme\/core\/ada --floor \|\| exit 2$/);
  });

  test('what it runs is on the floor, in the same folder and run, and ends as an operation', async () => {
    world.write('secret.txt', 'secret');
    const command = `echo "it's $((1 + 1))" > out.txt; pwd; cat ${world.home}/secret.txt || exit 7`;
    const { updatedInput, permissionDecision } = await hook('PreToolUse', 'u1', { command, timeout: 9 });
    expect(permissionDecision).toBeUndefined();
    expect(updatedInput).toEqual({
      command: expect.stringContaining(' run --agent acme/core/ada ') as string,
      timeout: 9,
    });
    const { code, stdout } = await world.shell(updatedInput?.command ?? '');
    expect({ code, stdout }).toEqual({ code: 7, stdout: `${world.project}\n` });
    expect(world.read('project/out.txt')).toBe("it's 2\n");
    expect(await hook('PostToolUse', 'u1', { ...updatedInput }, { tool_response: { exit_code: 7 } })).toEqual({});
    const ops = await sessionOps();
    expect(ops.filter(({ floor }) => floor)).toHaveLength(1);
    expect(ops.map(({ state }) => state).filter((state) => state !== 'completing')).toEqual([]);
  });

  test('what is denied is denied by the hook, and what is on the floor already stays', async () => {
    expect(await hook('PreToolUse', 'u2', { command: 'echo forbidden' })).toMatchObject({ permissionDecision: 'deny' });
    const { updatedInput } = await hook('PreToolUse', 'u3', { command: 'true' });
    expect(await hook('PreToolUse', 'u4', { ...updatedInput })).toEqual({ hookEventName: 'PreToolUse' });
    const own = updatedInput?.command.replace('true', "'echo forbidden'");
    expect(await hook('PreToolUse', 'u5', { command: own })).toMatchObject({ permissionDecision: 'deny' });
  });

  test('a person is asked once', async () => {
    const asked = hook('PreToolUse', 'u6', { command: 'echo asked for it' });
    const id = await eventually(async () => {
      const [approval] = await approvals('open');
      if (approval === undefined) throw new Error('nobody is asked');
      return approval.id;
    }, 400);
    expect((await world.gateway.api.post(`/api/v1/approvals/${id}/approve`, bootstrapKey, { reason: '' })).status).toBe(
      200,
    );
    const { updatedInput, permissionDecision } = await asked;
    expect(permissionDecision).toBe('allow');
    expect(await world.shell(updatedInput?.command ?? '')).toMatchObject({ code: 0, stdout: 'asked for it\n' });
    expect(await approvals('open')).toEqual([]);
    expect((await approvals('decided')).map((approval) => approval.id)).toEqual([id]);
  });

  test('without a gateway nothing runs beside the floor, --fail-open or not', async () => {
    const event = { hook_event_name: 'PreToolUse', session_id: 's', tool_use_id: 'u', cwd: world.project };
    const line = hookLine().replace(' --floor', ' --floor --fail-open --grpc-addr 127.0.0.1:7');
    const { stdout } = await world.shell(
      line,
      JSON.stringify({ ...event, tool_name: 'Bash', tool_input: { command: 'echo ran' } }),
    );
    const { updatedInput } = (JSON.parse(stdout) as HookOutput).hookSpecificOutput ?? {};
    expect(await world.shell(updatedInput?.command ?? 'echo beside')).toMatchObject({ code: 125, stdout: '' });
  });
});
