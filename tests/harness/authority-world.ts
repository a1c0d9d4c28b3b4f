import { expect } from 'vitest';
import type { Standing, Width } from '../../packages/core/src/access/authority.ts';
import type { CreatedKey } from './credentials.ts';
import { makeKey, registerAs, tokenOf } from './credentials.ts';
import type { Registered, TestGateway } from './gateway.ts';
import { Person } from './person.ts';

/** A credential of the matrix: the secret for the gateway, and its standing for the table. */
export interface Caller extends Standing {
  readonly name: string;
  readonly bearer: string;
}

const bindings: Readonly<Record<Width, object>> = {
  unbound: {},
  org: { org_id: 'acme' },
  team: { org_id: 'acme', team_id: 'core' },
};

/** A gateway with credentials of every kind: those that registered its agents, those derived from them, and others. */
export class AuthorityWorld {
  readonly gateway: TestGateway;
  readonly callers: readonly Caller[];
  /** One for each width. They registered nothing. */
  readonly imposers: Readonly<Record<Width, string>>;
  readonly owner: Person;
  readonly #registrants: readonly string[];

  private constructor(
    gateway: TestGateway,
    members: Pick<AuthorityWorld, 'callers' | 'imposers' | 'owner'> & { readonly registrants: readonly string[] },
  ) {
    this.gateway = gateway;
    this.callers = members.callers;
    this.imposers = members.imposers;
    this.owner = members.owner;
    this.#registrants = members.registrants;
  }

  static async of(gateway: TestGateway): Promise<AuthorityWorld> {
    const owner = new Person(gateway);
    expect((await owner.register('owner@example.com')).status).toBe(201);
    const member = async (email: string, role: string) => {
      const invite = await owner.call<{ token: string }>('POST', '/api/v1/auth/invite', { email, role });
      const person = new Person(gateway);
      expect((await person.accept(invite.body.token)).status).toBe(201);
      return person.accessToken ?? '';
    };
    const key = (width: Width, scope: 'write' | 'admin', bearer?: string) =>
      makeKey(gateway, { scopes: [scope], ...bindings[width] }, bearer);
    const rotated = async ({ id }: CreatedKey) =>
      (await gateway.api.post<CreatedKey>(`/api/v1/iam/api-keys/${id}/rotate`, owner.accessToken)).body.key;

    const callers: Caller[] = [];
    const add = (name: string, bearer: string, width: Width, standing: Partial<Standing> = {}) => {
      callers.push({ name, bearer, width, isAdmin: false, isOwner: false, isOwn: false, ...standing });
      return bearer;
    };
    for (const width of ['unbound', 'org', 'team'] as const) {
      add(`an admin key (${width})`, (await key(width, 'admin')).key, width, { isAdmin: true });
      add(`a write key (${width})`, (await key(width, 'write')).key, width);
    }
    add('an owner', owner.accessToken ?? '', 'unbound', { isAdmin: true, isOwner: true });
    add('an admin', await member('admin@example.com', 'admin'), 'unbound', { isAdmin: true });
    add('a developer', await member('developer@example.com', 'developer'), 'unbound');

    // From here on: the credentials that registered the agents, and those derived from them.
    const own = { isOwn: true };
    const orgAdmin = await key('org', 'admin');
    const teamKey = await key('team', 'write');
    const unboundAdmin = await key('unbound', 'admin');
    const toRotate = await key('org', 'admin');
    const registrants = [
      add('the registering org admin key', orgAdmin.key, 'org', { ...own, isAdmin: true }),
      add('the registering team key', teamKey.key, 'team', own),
      add('a registering write key', (await key('unbound', 'write')).key, 'unbound', own),
      add('a registering admin key', unboundAdmin.key, 'unbound', { ...own, isAdmin: true }),
      add('a registering developer', await member('builder@example.com', 'developer'), 'unbound', own),
      add('a registering admin', await member('boss@example.com', 'admin'), 'unbound', { ...own, isAdmin: true }),
      toRotate.key,
    ];
    const admin = registrants[5] ?? '';
    const child = await key('org', 'admin', orgAdmin.key);
    add('a key made with it', child.key, 'org', { ...own, isAdmin: true });
    add('a key made with a key made with it', (await key('org', 'write', child.key)).key, 'org', own);
    add('a token of it', await tokenOf(gateway, orgAdmin.key), 'org', { ...own, isAdmin: true });
    add('a write token of it', await tokenOf(gateway, orgAdmin.key, 'write'), 'org', own);
    add(
      'a write token of the registering admin key',
      await tokenOf(gateway, unboundAdmin.key, 'write'),
      'unbound',
      own,
    );
    add('a key made by the registering admin', (await key('unbound', 'write', admin)).key, 'unbound', own);
    add('an org key made by the registering admin', (await key('org', 'write', admin)).key, 'org', own);
    // Keys of tenants are made with the operator's key, and do not count as derived from it.
    add('an org key made with the registering admin key', (await key('org', 'write', unboundAdmin.key)).key, 'org');

    const imposers = {
      unbound: (await key('unbound', 'write')).key,
      org: (await key('org', 'write')).key,
      team: (await key('team', 'write')).key,
    };
    const world = new AuthorityWorld(gateway, { callers, imposers, owner, registrants });
    // It registers before its rotation, because it could not afterwards.
    await world.agent('rotated');
    const rotation = await rotated(toRotate);
    callers.push({
      name: 'a rotation of it',
      bearer: rotation,
      width: 'org',
      isAdmin: true,
      isOwner: false,
      isOwn: true,
    });
    return new AuthorityWorld(gateway, {
      callers,
      imposers,
      owner,
      registrants: registrants.map((bearer) => (bearer === toRotate.key ? rotation : bearer)),
    });
  }

  /** An agent that each registrant has registered, one after the other. */
  async agent(agentId: string): Promise<Registered> {
    let token = '';
    for (const bearer of this.#registrants) {
      token = (await registerAs(this.gateway, bearer, { agentId })).credentialToken;
    }
    return { id: { orgId: 'acme', teamId: 'core', agentId }, token };
  }

  /** Somebody who was an owner until the account was disabled. */
  async formerOwner(): Promise<{ readonly email: string; readonly id: string }> {
    const email = 'former@example.com';
    const invite = await this.owner.call<{ token: string }>('POST', '/api/v1/auth/invite', { email, role: 'owner' });
    const { id } = (await new Person(this.gateway).accept(invite.body.token)).body.account;
    expect((await this.owner.call('PATCH', `/api/v1/accounts/${id}`, { status: 'disabled' })).status).toBe(200);
    return { email, id };
  }
}
