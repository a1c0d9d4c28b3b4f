import type { ActionContext } from '@reeve/contract';
import { ActionType, Decision } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { TestGateway } from '../harness/gateway.ts';

const policy = `
name: p
default: allow
rules:
  - { name: metadata, effect: deny, hosts: ["169.254.169.254"] }
  - { name: loopback, effect: deny, hosts: ["[::1]"] }
  - { name: city, effect: deny, hosts: ["*.münchen.example"] }
  - { name: by-condition, effect: deny, when: 'action.host == "10.0.0.1" || action.path == "/root/key"' }
  - { name: secrets, effect: deny, paths: ["/etc/**"] }
`;

let gateway: TestGateway;
let agent: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
  agent = await gateway.register({ orgId: 'acme', agentId: 'bot' });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function decided(actionType: ActionType, context: ActionContext): Promise<string> {
  const { decision, policyRule } = await gateway.check(agent, { actionType, context });
  return decision === Decision.ALLOW ? 'allowed' : policyRule;
}

const network = (host: string) =>
  decided(ActionType.NETWORK_CALL, {
    action: { $case: 'networkCall', value: { host, port: 80, protocol: 'tcp' } },
  });
const fetch = (targetUrl: string) =>
  decided(ActionType.TOOL_CALL, {
    action: { $case: 'toolCall', value: { toolName: 'fetch', toolSource: '', argsJson: new Uint8Array(), targetUrl } },
  });
const read = (path: string) =>
  decided(ActionType.FILE_OPERATION, { action: { $case: 'fileOp', value: { operation: 'read', path } } });

describe('a rule about an address holds for every spelling of it', () => {
  test.each([
    'http://169.254.169.254/latest',
    'http://2852039166/',
    'http://0xA9FEA9FE/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]:80/',
    'http://user:pw@169.254.169.254./',
    'HTTP://①⑥⑨.254.169.254/',
    'http://169.254.169.254:99999/',
    'http://[::ffff:169.254.169.254%25eth0]/',
  ])('%s', async (url) => {
    expect([await fetch(url), await network(url)]).toEqual(['p/metadata', 'p/metadata']);
  });

  test.each([
    '2852039166',
    '0xa9.254.0251.254',
    '::ffff:169.254.169.254',
    '[::FFFF:A9FE:A9FE]:443',
    '169.254.169.254:80',
  ])('the host %s', async (host) => {
    expect(await network(host)).toBe('p/metadata');
  });

  test('IPv6, names in other scripts, and what conditions see', async () => {
    expect(await network('[0:0:0:0:0:0:0:1]')).toBe('p/loopback');
    expect(await fetch('https://www.MÜNCHEN.example/x')).toBe('p/city');
    expect(await fetch('https://www.xn--mnchen-3ya.example/x')).toBe('p/city');
    expect(await fetch('https://10.1/')).toBe('p/by-condition');
  });

  test('and other hosts are none of its business', async () => {
    for (const host of ['169.254.169.253', 'example.com', '2852039165']) expect(await network(host)).toBe('allowed');
    expect(await fetch('https://example.com/?u=http://169.254.169.254/')).toBe('allowed');
    expect(await fetch('/relative')).toBe('allowed');
  });
});

test.each([
  ['file:///etc/passwd', 'p/secrets'],
  ['file://localhost/etc/passwd', 'p/secrets'],
  ['FILE:/etc/%70asswd', 'p/secrets'],
  ['file:///srv/%2e%2e/etc/passwd', 'p/secrets'],
  ['file://elsewhere/etc/passwd', 'p/by-condition'],
  ['file:///root/key', 'p/by-condition'],
  ['/srv/../etc/passwd', 'p/secrets'],
  ['file:///srv/etc', 'allowed'],
  ['/srv/file:/etc', 'allowed'],
])('the path %s: %s', async (path, expected) => {
  expect(await read(path)).toBe(expected);
});
