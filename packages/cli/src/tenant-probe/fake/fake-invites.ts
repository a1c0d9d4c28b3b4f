import { randomText } from '../canary-setup.ts';
import type { Leak } from './leaks.ts';
import type { Binding, Key, Reply } from './records.ts';
import { problem, reaches } from './records.ts';

interface FakeInvite extends Binding {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly expires_at: string;
}

type InviteBody = Readonly<Record<string, string | null | undefined>>;

/** The invites of the fake gateway. Without accounts, every call is refused alike. */
export class FakeInvites {
  readonly open: FakeInvite[] = [];
  readonly #leak: Leak | undefined;
  readonly #hasAccounts: boolean;
  readonly #list: (own: readonly FakeInvite[], all: readonly FakeInvite[], query: Record<string, string>) => Reply;

  constructor(
    leak: Leak | undefined,
    hasAccounts: boolean,
    list: (own: readonly FakeInvite[], all: readonly FakeInvite[], query: Record<string, string>) => Reply,
  ) {
    this.#leak = leak;
    this.#hasAccounts = hasAccounts;
    this.#list = list;
  }

  handlerOf(
    route: string,
    by: Key,
    query: Record<string, string>,
    body: InviteBody,
  ): [string, () => Reply] | undefined {
    const act = this.#act(route, by, query, body);
    if (act === undefined) return undefined;
    return this.#hasAccounts ? ['admin', act] : ['any', () => problem(503, 'accounts_unavailable')];
  }

  #act(route: string, by: Key, query: Record<string, string>, body: InviteBody): (() => Reply) | undefined {
    const [, method, id, isResend] = /^(POST|DELETE) \/api\/v1\/auth\/invites\/(\w+)(\/resend)?$/.exec(route) ?? [];
    if (id !== undefined && method === 'DELETE') return () => this.#revoke(by, id);
    if (id !== undefined && isResend !== undefined) return () => this.#resend(by, id);
    if (route === 'POST /api/v1/auth/invite') return () => this.#make(by, body);
    if (route !== 'GET /api/v1/auth/invites') return undefined;
    const isSeen = (invite: FakeInvite) => this.#leak === 'invites of others are listed' || reaches(by, invite);
    return () => this.#list(this.open.filter(isSeen), this.open, query);
  }

  #make(by: Key, { email = '', org_id: org, team_id: team }: InviteBody): Reply {
    const binding = { org_id: org ?? by.org_id, team_id: team ?? by.team_id };
    if (!reaches(by, binding) && this.#leak !== 'invites into others') return problem(403, 'tenant_bound');
    const invite = { id: `inv_${randomText(24)}`, email: email ?? '', role: 'viewer', ...binding, expires_at: 'later' };
    this.open.push(invite);
    return [201, { invite, token: randomText(24) }];
  }

  #resend(by: Key, id: string): Reply {
    const invite = this.#find(by, id, 'invites of others can be sent again');
    if (invite === undefined) return problem(404, 'invite_not_found');
    this.#remove(invite);
    return this.#make({ ...by, org_id: null, team_id: null }, invite as unknown as InviteBody);
  }

  #revoke(by: Key, id: string): Reply {
    const invite = this.#find(by, id, 'invites of others can be revoked');
    if (invite === undefined) return problem(404, 'invite_not_found');
    if (this.#leak === 'invites cannot be revoked' && by.org_id === null) return problem(409, 'conflict');
    this.#remove(invite);
    return [204, ''];
  }

  #find(by: Key, id: string, open: Leak): FakeInvite | undefined {
    return this.open.find((invite) => invite.id === id && (this.#leak === open || reaches(by, invite)));
  }

  #remove(invite: FakeInvite): void {
    this.open.splice(this.open.indexOf(invite), 1);
  }
}
