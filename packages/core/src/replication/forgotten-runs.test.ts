import { expect, test } from 'vitest';
import { execute } from '../commands.ts';
import { checkAction } from '../decision/check-action.ts';
import { ownWork } from '../journal/index.ts';
import { opPath } from '../kernel/ids.ts';
import { RunKeeper } from '../runs/index.ts';
import { checkOf, operator, useTool } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { ticks, twoGateways } from '../testkit/two-gateways.ts';

const policy = 'name: p\ndefault: allow\nrules: [{ name: mail, effect: allow, tools: [mail], labels: [mail] }]\n';
const runTtlMs = 1000;

test('a run whose last operation did not end after all keeps its labels', async () => {
  const { one, two, log, clock, settle, settled, register, follow } = await twoGateways(policy, { runTtlMs });
  const { id, token } = await register('acme/red/bot');
  const op = { agentId: id, token, runId: 'r', traceId: 'a', spanId: 's', action: useTool('mail') };
  await settled(checkAction(one.gov, checkOf(op)));
  await follow();
  const control = ({ gov }: TestGovernance, action: 'pause' | 'terminate') =>
    execute(gov, { kind: 'control_op', by: operator, opId: opPath(id, 'a:s'), action, reason: '' });

  const ended = control(one, 'terminate');
  await ticks();
  one.turn();
  clock.advance(2 * runTtlMs);
  const keeper = new RunKeeper(one.gov);
  const forgotten = one.gov.journal.turn(ownWork, () => keeper.save());
  await ticks();
  one.turn();
  const waiting = log.waiting;
  const paused = control(two, 'pause');
  await ticks();
  two.turn();
  while (log.waiting > waiting) {
    log.work(waiting);
    await ticks();
  }
  await settle();
  await Promise.all([ended, forgotten, paused]);
  await follow();

  const bearer = { of: 'run', place: { orgId: 'acme', teamId: 'red', runId: 'r', agentId: '' } } as const;
  for (const { gov } of [one, two]) expect(gov.runs.labels.of(bearer).map(({ name }) => name)).toEqual(['mail']);
});
