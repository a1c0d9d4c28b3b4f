import { randomBytes } from 'node:crypto';
import { callGateway } from './call-gateway.ts';
import { orgs } from './demo-cast.ts';
import { storedPolicy } from './demo-policies.ts';

export interface DemoLogin {
  readonly email: string;
  readonly password: string;
}

export interface Prepared {
  readonly login: DemoLogin;
  /** One key for the agents of each org. */
  readonly keyOf: ReadonlyMap<string, string>;
  readonly colleague: DemoLogin;
}

/** Creates what a new gateway lacks: an owner and colleagues, a key for each org, and a policy with a history. */
export async function prepareDemo(http: string, adminKey: string): Promise<Prepared> {
  const login = { email: 'demo@example.com', password: passphrase() };
  await callGateway(http, 'register', { body: { ...login, name: 'Demo owner' } });
  const keyOf = new Map<string, string>();
  for (const org of orgs) {
    const body = { label: `agents of ${org}`, scopes: ['write' as const], org_id: org };
    const { key } = await callGateway(http, 'createApiKey', { body }, adminKey);
    keyOf.set(org, key);
  }
  const [colleague] = await Promise.all([
    invite(http, adminKey, 'devi@example.com', 'developer', 'Devi Developer'),
    putPolicies(http, adminKey),
    invite(http, adminKey, 'vera@example.com', 'viewer', 'Vera Viewer'),
    callGateway(http, 'createInvite', { body: { email: 'open@example.com', role: 'viewer' } }, adminKey),
  ]);
  return { login, keyOf, colleague };
}

async function putPolicies(http: string, adminKey: string): Promise<void> {
  for (const [at, source] of storedPolicy.versions.entries()) {
    const body = { source, note: at === 0 ? 'first version' : 'bulk reads, too' };
    await callGateway(http, 'putPolicy', { params: { name: storedPolicy.name }, body }, adminKey);
  }
}

async function invite(
  http: string,
  adminKey: string,
  email: string,
  role: 'developer' | 'viewer',
  name: string,
): Promise<DemoLogin> {
  const { token } = await callGateway(http, 'createInvite', { body: { email, role } }, adminKey);
  const login = { email, password: passphrase() };
  const body = { token, name, password: login.password };
  await callGateway(http, 'acceptInvite', { body });
  return login;
}

/** Easy to type, hard to guess. */
function passphrase(): string {
  return `demo-${randomBytes(9).toString('base64url').replaceAll(/[-_]/g, 'x')}`;
}
