import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowAll } from '../harness/gateway.ts';
import type { Listening } from './mcp-processes.ts';
import { serveServers, startServer } from './mcp-processes.ts';
import { McpWorld } from './mcp-world.ts';

// What revision 2026-07-28 says of HTTP, in front of a server on stdio that knows nothing of it, and of one that does.

let world: McpWorld;
let upstream: Listening;
let proxy: Listening;
beforeAll(async () => {
  world = await McpWorld.start(allowAll);
  const args = [resolve('tests/doors/servers/modern.mjs'), '--stdio'];
  upstream = startServer('modern');
  const url = await upstream.address();
  proxy = serveServers(world, { command: { command: process.execPath, args }, url: { url } });
  await proxy.address();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const revision = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const envelope = {
  [`${prefix}protocolVersion`]: revision,
  [`${prefix}clientInfo`]: { name: 'bare', version: '1' },
  [`${prefix}clientCapabilities`]: {},
};
const { [`${prefix}clientCapabilities`]: _, ...incapable } = envelope;
const future = { ...envelope, [`${prefix}protocolVersion`]: '2099-01-01' };

type Behind = 'command' | 'url';

async function ask(
  behind: Behind,
  method: string,
  params: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, string>>,
) {
  const response = await fetch(`${await proxy.address()}/mcp/${behind}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.agent.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...more,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });
  const text = await response.text();
  const line = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { status: response.status, ...(JSON.parse(line) as { id: unknown; error?: { code: number; data?: object } }) };
}

describe.each<Behind>(['command', 'url'])('in front of a server by its %s', (behind) => {
  it.each([
    ['tools/list', {}, {}, 400, -32_602],
    ['tools/list', { _meta: { [`${prefix}clientCapabilities`]: {} } }, {}, 400, -32_602],
    ['tools/list', { _meta: incapable }, {}, 400, -32_602],
    ['tools/list', { _meta: future }, { 'mcp-protocol-version': '2099-01-01' }, 400, -32_022],
    ['tools/list', { _meta: envelope }, { 'mcp-method': 'tools/call' }, 400, -32_020],
    ['initialize', { _meta: envelope }, {}, 404, -32_601],
    ['no/such', { _meta: envelope }, {}, 404, -32_601],
    ['tools/list', { _meta: envelope }, {}, 200, undefined],
  ])('%s with %j and %j is answered %i %s', async (method, params, headers, status, code) => {
    const answer = await ask(behind, method, params, headers);
    expect([answer.status, answer.error?.code, answer.id]).toEqual([status, code, 7]);
    if (code !== -32_022) return;
    const data = { supported: [revision], requested: '2099-01-01' };
    // A server that knows HTTP says by itself what it supports besides.
    const supported = expect.arrayContaining(data.supported) as unknown;
    expect(answer.error?.data).toEqual(behind === 'command' ? data : { ...data, supported });
  });

  it.each([
    [{ region: 'eu', note: 'us' }, 'us', 400],
    [{ region: 'eu' }, undefined, 400],
    [{}, 'eu', 400],
    [{ region: 'eu' }, 'eu', 200],
    [{ region: 'eu' }, '=?base64?ZXU=?=', 200],
    [{ region: 'eu' }, '=?base64?ZXU?=', 400],
    [{ region: 'eu' }, '=?base64?ZX!U=?=', 400],
    [{ region: 'eu' }, '=?base64?ZXV=?=', 400],
    [{ region: '=?base64?ZXU=' }, '=?base64?ZXU=', 200],
  ])('a call with %j and Mcp-Param-Region: %s is answered %i', async (args, region, status) => {
    await ask(behind, 'tools/list', { _meta: envelope }, {});
    const headers = { 'mcp-name': 'route', ...(region === undefined ? {} : { 'mcp-param-region': region }) };
    const answer = await ask(behind, 'tools/call', { name: 'route', arguments: args, _meta: envelope }, headers);
    expect([answer.status, answer.error?.code]).toEqual([status, status === 200 ? undefined : -32_020]);
  });
});
