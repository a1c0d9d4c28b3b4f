import { expect, test } from 'vitest';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { TestModelProxy } from '../harness/model-proxy.ts';
import { ModelUpstream } from '../harness/model-upstream.ts';

const body = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] });

/** The runs of the operations of the agent, once a call with this run was made. */
async function runsBy(file: object, run: string): Promise<readonly string[]> {
  await using gateway = await TestGateway.start({ policies: { 'test.yaml': 'name: test\ndefault: allow\n' } });
  await using upstream = await ModelUpstream.start();
  const usual = { name: 'main', kind: 'openai', base_url: upstream.url, models: ['gpt-*'] };
  const upstreams = [{ ...usual, ...('upstream' in file ? (file.upstream as object) : {}) }];
  const { upstream: _upstream, ...top } = file as { upstream?: object };
  await using proxy = await TestModelProxy.start({ grpc: gateway.grpc, upstream: upstream.url, upstreams, file: top });
  const { token } = await gateway.register({ agentId: 'writer' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-reeve-run-id': run };
  const answer = await fetch(`${proxy.url}/v1/chat/completions`, { method: 'POST', body, headers });
  expect(answer.status).toBe(200);
  await answer.text();
  const { body: page } = await gateway.api.get<{ items: { run_id: string }[] }>('/api/v1/ops', bootstrapKey);
  return page.items.map(({ run_id }) => run_id);
}

test("the run is the agent's own, whatever a client says", async () => {
  expect(await runsBy({}, 'chosen')).toEqual(['chosen']);
  expect(await runsBy({ run: 'fixed' }, 'chosen')).toEqual(['']);
  expect(await runsBy({ upstream: { run: 'fixed' } }, 'x'.repeat(200))).toEqual(['']);
});
