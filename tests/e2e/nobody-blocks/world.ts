import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { makeKey, registerAs } from '../../harness/credentials.ts';
import type { Registered } from '../../harness/gateway.ts';
import { bootstrapKey, checkRequest, TestGateway, toolCall } from '../../harness/gateway.ts';
import { password, Person } from '../../harness/person.ts';
import { Policies } from '../../harness/policies.ts';
import { TokenIssuer } from '../../harness/token-issuer.ts';
import { dearConditions, manyConditions, worstTexts } from './worst-texts.ts';

/** A gateway with much data, and one hostile tenant. */
export interface World {
  readonly gateway: TestGateway;
  /** Keys with every scope: one unbound, one bound to the org. */
  readonly operator: string;
  readonly tenant: string;
  readonly person: string;
  readonly bot: Registered;
  readonly opId: string;
  readonly approvalId: string;
  /** Issues the JWTs of users and of workloads. */
  readonly issuer: TokenIssuer;
  close(): Promise<void>;
}

const policy = `
name: base
default: allow
rules:
  - {name: ask, effect: require_approval, tools: [ask]}
  - {name: mask, on: result, effect: mask, tools: [x], mask: {detect: [email, phone, card, iban, us_ssn, ip, secret], fields: ["**.password"]}}
`;

const noLimits = {
  SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
  SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0',
  SVC_RATE_LIMIT_API_PER_MIN: '0',
  SVC_LOCKOUT_ATTEMPTS: '1000',
  SVC_AUTH_OPEN_REGISTRATION: 'true',
  SVC_EVALUATION_SECS: '4',
};

export async function makeWorld(): Promise<World> {
  const issuer = await TokenIssuer.start('ES384');
  const folder = mkdtempSync(join(tmpdir(), 'reeve-issuers-'));
  const [subjects, workloads] = [join(folder, 'subjects.yaml'), join(folder, 'workloads.yaml')];
  const trusted = `- issuer: ${issuer.url}\n  audience: reeve\n  jwks_uri: ${issuer.jwksUri}\n`;
  writeFileSync(subjects, trusted);
  writeFileSync(workloads, `${trusted}  match: {sub: "{sub:*}"}\n  agent: acme/work/{sub}\n`);
  const env = { ...noLimits, SVC_SUBJECTS: subjects, SVC_WORKLOADS: workloads };
  const gateway = await TestGateway.start({ policies: { 'base.yaml': policy }, env });
  const close = async () => {
    await gateway[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  };
  const tenant = (await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' })).key;
  const bot = await gateway.register({ agentId: 'bot' });
  for (let at = 0; at < 300; at++) await registerAs(gateway, tenant, { agentId: `agent-${at}`, teamId: `t${at % 20}` });
  // Several thousand entries, some of them slow to scan.
  for (const text of worstTexts(400)) {
    const requests = Array.from({ length: 250 }, () => checkRequest(bot, { context: toolCall('search', { text }) }));
    await gateway.batch(requests);
  }
  const { opId } = await gateway.check(bot);
  const { approvalId } = await gateway.check(bot, { context: toolCall('ask') });
  const policies = new Policies(gateway, tenant);
  // On a busy machine a document of this size may take longer to read than it may.
  const put = (name: string, text: string) => vi.waitFor(() => policies.put(name, text), { timeout: 120_000 });
  await put('big', manyConditions(120_000, 'scope: org:acme\nrules:\n'));
  await put('big', manyConditions(100_000, 'scope: org:acme\nrules:\n'));
  const dear = dearConditions('scope: org:acme\nrules:\n').slice(0, 120_000);
  await put('dear', dear.replace(/\n[^\n]*$/, '\n'));
  const person = new Person(gateway);
  await person.register('someone@example.com', { password });
  const accessToken = person.accessToken ?? '';
  return { gateway, operator: bootstrapKey, tenant, person: accessToken, bot, opId, approvalId, issuer, close };
}
