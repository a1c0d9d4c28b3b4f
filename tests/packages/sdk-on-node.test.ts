import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiKey } from '../../packages/sdk/test/client.ts';
import { allowing } from '../../packages/sdk/test/scripted-answers.ts';
import { ScriptedGateway } from '../../packages/sdk/test/scripted-gateway.ts';
import { bundleSdk } from '../../scripts/bundle-sdk.ts';
import { nodeOf } from './node-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-sdk-'));
const file = join(folder, 'index.js');

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  return bundleSdk(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** One of everything that an agent does: calls, a stream of checks, a run under control, an approval's wait, an end. */
const program = (address: string) => `
  import { connect } from '${pathToFileURL(file).href}';
  const reeve = connect({ address: '${address}', apiKey: '${apiKey}' });
  const agent = await reeve.register({ agentId: 'bot' });
  const checks = await Promise.all(Array.from({ length: 50 }, () => agent.check({ tool: 'search' })));
  const held = new AbortController();
  const waits = agent.decision({ tool: 'held' }, { spanId: 'held', signal: held.signal }).catch((error) => error.message);
  setTimeout(() => held.abort(new Error('given up')), 100);
  const said = await agent.run({ tool: 'work' }, async (operation) => {
    await operation.checkpoint();
    return 'worked';
  });
  const waited = await waits;
  await agent.heartbeat();
  await agent.deregister();
  console.log(JSON.stringify({ allowed: checks.filter(({ allowed }) => allowed).length, said, waited }));`;

test('the SDK works on the oldest Node that it is for, and has nothing to complain about', async () => {
  await using gateway = await ScriptedGateway.start({
    checkAction: (request) =>
      request.spanId === 'held' ? { ...allowing(request), decision: 3, opState: 'pending' } : allowing(request),
  });
  const node = await nodeOf(20);
  const run = promisify(execFile)(node, ['--input-type=module', '--eval', program(gateway.address)]);
  const { stdout, stderr } = await run;
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ allowed: 50, said: 'worked', waited: 'given up' });
  expect(gateway.count('checkStream')).toBeGreaterThan(0);
});
