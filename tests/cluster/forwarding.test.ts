import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { expectWholeLog, HttpReceiver, signedLines } from '../harness/log-receivers.ts';
import { startPair } from './pair.ts';

const secret = 'a secret that signs';

test('one of several gateways forwards the log of all, and another goes on where a killed one was', async () => {
  await using receiver = await HttpReceiver.start(signedLines(secret));
  const env = { SVC_FORWARD: `http://127.0.0.1:${receiver.port}/`, SVC_FORWARD_SECRET: secret };
  await using pair = await startPair(env);
  const { one, two } = pair;
  const agent = await one.register({ agentId: 'a' });
  for (let i = 0; i < 10; i++) await (i % 2 === 0 ? one : two).check(agent);
  const newest = () => two.audit().at(-1)?.seq ?? 0;
  await eventually(() => expectWholeLog(receiver.lines, 1, newest()));
  const lagAt = async (gateway: typeof one) => (await gateway.ready()).body.parts['forward'];
  await eventually(async () => {
    for (const gateway of [one, two]) expect(await lagAt(gateway)).toMatchObject({ targets: [{ lag_entries: 0 }] });
  });
  await one.kill('SIGKILL');
  for (let i = 0; i < 10; i++) await two.check(agent);
  await eventually(() => expectWholeLog(receiver.lines, 1, newest()), 400);
  expect(await two.kill('SIGTERM')).toBe(0);
  expectWholeLog(receiver.lines, 1, newest());
}, 240_000);
