import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapKey } from '../harness/gateway.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';

const rules = `
name: house
default: allow
rules:
  - { name: asked, effect: require_approval, commands: ["touch asked-**"] }
`;

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start({}, rules);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

type Approval = RouteOutput<Routes['listApprovals']>['items'][number];

/** The one approval of an operation whose title has the word. */
async function approvalOf(word: string): Promise<Approval> {
  const path = '/api/v1/approvals?state=open';
  const { body } = await world.gateway.api.get<RouteOutput<Routes['listApprovals']>>(path, bootstrapKey);
  const found = body.items.find(({ title }) => title.includes(word));
  if (found === undefined) throw new Error(`there is no approval of ${word}`);
  return found;
}

async function post(path: string, body: unknown): Promise<void> {
  const { status, text } = await world.gateway.api.post(path, bootstrapKey, body);
  expect(status, text).toBeLessThan(300);
}

/** A command that waits for its approval. */
async function waiting(word: string) {
  const cli = world.begin(['touch', word]);
  await cli.says(/waiting for an approval/, 'stderr');
  return cli;
}

const hasRun = (word: string) => existsSync(join(world.project, word));

describe.skipIf(!hasFloor)('a program that may not start', () => {
  test('ends with 126 and the reason if its approval is rejected while it waits', async () => {
    await using cli = await waiting('asked-rejected');
    const { id } = await approvalOf('asked-rejected');
    await post(`/api/v1/approvals/${id}/reject`, { reason: 'nope' });
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 126, stdout: '' });
    expect(cli.stderr).toMatch(/^error: denied while it waited: rejected by .*: nope$/m);
    expect(hasRun('asked-rejected')).toBe(false);
  });

  test('ends with 143 if an operator terminates it while it waits', async () => {
    await using cli = await waiting('asked-stopped');
    const { op_id: id } = await approvalOf('asked-stopped');
    await post(`/api/v1/ops/${encodeURIComponent(id)}/terminate`, { reason: 'enough' });
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 143, stderr: expect.stringContaining('terminated: enough') as string });
    expect(hasRun('asked-stopped')).toBe(false);
  });

  test('ends with 126 and the reason if its approval expires while it waits', async () => {
    await using brief = await FloorWorld.start({ SVC_APPROVAL_TTL_SECS: '1' }, rules);
    const { code, stderr } = await brief.run(['touch', 'asked-expired']);
    expect(code).toBe(126);
    expect(stderr).toMatch(/^error: denied while it waited: approval expired$/m);
  });
});
