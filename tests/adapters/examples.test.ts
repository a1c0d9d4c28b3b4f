import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const folder = 'examples/typescript';
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start({ args: ['--policy', 'examples/policies'] });
});

afterAll(() => gateway[Symbol.asyncDispose]());

// The Claude Agent SDK is not installed here: `npm run conformance -- --only adapters` runs its example.
test.each(['ai', 'langchain', 'openai-agents', 'mcp'])(
  'the example for %s searches, and may not delete',
  async (name) => {
    const env = { ...process.env, REEVE_GRPC_ADDR: gateway.grpc, REEVE_API_KEY: bootstrapKey };
    const { stdout } = await promisify(execFile)('node_modules/.bin/node', [`${folder}/${name}.ts`], { env });
    expect(stdout).toMatch(/search_docs: .*refunds\.md says: five days\./);
    expect(stdout).toMatch(/delete_customer: .*Denied by policy: /);
    expect(stdout).not.toContain('is gone');
  },
);

test('an example is short enough to be read', () => {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('scripted-') || name.endsWith('.d.ts')) continue;
    expect(readFileSync(`${folder}/${name}`, 'utf8').trimEnd().split('\n').length, name).toBeLessThan(60);
  }
});
