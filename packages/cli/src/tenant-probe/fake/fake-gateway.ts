import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomText } from '../canary-setup.ts';
import type { AgentPort, ProbeOptions } from '../ports.ts';
import { fakeDocument } from './fake-document.ts';
import { FakeInvites } from './fake-invites.ts';
import { FakeOps } from './fake-ops.ts';
import type { Leak } from './leaks.ts';
import type { Agent, Binding, Entry, Key, Reply } from './records.ts';
import { asCsv, asLines, bindingOf, problem, reaches, sameBinding, shown, wireOf } from './records.ts';

/** An in-memory gateway, just complete enough to keep two tenants apart, or to fail at it on request. */
export class FakeGateway {
  readonly adminKey = 'fake-admin-key';
  readonly keys: Key[] = [];
  readonly agents: Agent[] = [];
  readonly #leak: Leak | undefined;
  readonly #log: Entry[] = [];
  readonly #ops: FakeOps;
  readonly invites: FakeInvites;

  constructor(leak?: Leak, { hasAccounts = true } = {}) {
    this.#leak = leak;
    this.#ops = new FakeOps({
      leak,
      agents: this.agents,
      sees: (by, record) => this.#sees(by, record),
      list: (own, all, query) => this.#list(own, all, query),
    });
    this.invites = new FakeInvites(leak, hasAccounts, (own, all, query) => this.#list(own, all, query));
    this.keys.push({
      id: 'fakeadminkey',
      key: this.adminKey,
      label: 'admin',
      scopes: ['read', 'write', 'admin'],
      org_id: null,
      team_id: null,
      revoked_at: null,
    });
  }

  /** Options for a probe without a network in between. */
  get options(): ProbeOptions {
    return {
      baseUrl: 'http://fake',
      fetch: (url, { method, headers, body }) => {
        const [status, text, answered] = this.#answer(method, new URL(url), headers['authorization'] ?? '', body ?? '');
        return Promise.resolve(new Response(status === 204 ? null : text, { status, headers: answered }));
      },
      adminCredential: this.adminKey,
      agents: this.#port(),
    };
  }

  /** Runs as a server, which ends with the test. */
  async listen(): Promise<ProbeOptions & AsyncDisposable> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const body = Buffer.concat(chunks).toString();
        const answer = this.#answer(method, new URL(url, 'http://fake'), headers.authorization ?? '', body);
        response.writeHead(answer[0], answer[2]).end(answer[1]);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const dispose = async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    };
    return { ...this.options, baseUrl: `http://127.0.0.1:${port}`, fetch, [Symbol.asyncDispose]: dispose };
  }

  #port(): AgentPort {
    const refuse = (why: string) => Promise.reject(new Error(why));
    return {
      registerAgent: (credential, { id, name, parent }) => {
        const by = this.#callerOf(credential);
        const mayRegister =
          this.#leak === 'agents register anywhere' || (by !== undefined && reaches(by, bindingOf(id)));
        if (!mayRegister) return refuse('the credential is bound to another tenant');
        if (parent !== undefined && parent.orgId !== id.orgId) return refuse('a parent must be in the same org');
        const token = `token-${randomText(20)}`;
        this.agents.push({ ...wireOf(id), name, token, status: 'active' });
        this.#log.push({ event_type: 'AgentRegistered', lineage: wireOf(id), payload: { name } });
        return Promise.resolve({ token });
      },
      check: ({ id, token }, about = { runId: '', opId: undefined }) => {
        const owner = this.agents.find((agent) => agent.token === token);
        if (owner === undefined) return refuse('no such token');
        const lineage = { org_id: owner.org_id, team_id: owner.team_id, agent_id: owner.agent_id };
        const isItself = owner.org_id === id.orgId && owner.agent_id === id.agentId;
        const opId = isItself ? (about.opId ?? `${randomText(16, '0123456789abcdef')}:01`) : '';
        if (isItself) this.#ops.ingest(owner, opId, about.runId);
        const payload = isItself ? { name: owner.name } : { claimed_org_id: id.orgId, claimed_agent_id: id.agentId };
        this.#log.push({ event_type: isItself ? 'ActionAllowed' : 'A2AImpersonationAttempted', lineage, payload });
        return Promise.resolve({ decision: isItself ? 'allow' : 'deny', opId });
      },
      deregisterAgent: ({ token }) => {
        const at = this.agents.findIndex((agent) => agent.token === token);
        const [left] = this.agents.splice(at, 1);
        if (left !== undefined) this.#ops.forget(left.agent_id);
        return Promise.resolve();
      },
    };
  }

  #callerOf(bearer: string): Key | undefined {
    const key = bearer.replace('jwt-', '');
    return this.keys.find((candidate) => candidate.key === key && candidate.revoked_at === null);
  }

  #answer(method: string, url: URL, authorization: string, sent: string): [number, string, Record<string, string>] {
    const bearer = authorization.replace('Bearer ', '');
    const [status, body, headers] = this.#reply(`${method} ${url.pathname}`, url, bearer, sent);
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    return [status, typeof body === 'string' ? body : JSON.stringify(body), { 'content-type': type, ...headers }];
  }

  #reply(route: string, url: URL, bearer: string, text: string): Reply {
    if (route === 'GET /openapi.json') return [200, fakeDocument(this.#leak)];
    if (route === 'GET /healthz') {
      return [200, { status: 'ok', ...(this.#leak === 'a public route shows tenants' ? { orgs: this.#orgs() } : {}) }];
    }
    const by = this.#callerOf(bearer);
    if (by === undefined) return problem(401, 'unauthenticated');
    if (route === 'POST /api/v1/auth/token') return [200, { token: `jwt-${by.key}` }];
    const [level = 'read', handle] = this.#handlerOf(route, url, by, text);
    if (handle === undefined) return problem(404, 'not_found');
    if (level !== 'any' && !by.scopes.includes(level)) return problem(403, 'insufficient_scope');
    const [status, body, headers] = handle();
    const shown = this.#leak === 'a header shows others' ? { 'x-orgs': this.#orgs().join(' ') } : {};
    return [status, body, { ...headers, ...shown }];
  }

  #handlerOf(route: string, url: URL, by: Key, text: string): [string, () => Reply] | [] {
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
    const query = Object.fromEntries(url.searchParams);
    const found = this.#ops.handlerOf(route, by, query, body) ?? this.invites.handlerOf(route, by, query, body);
    if (found !== undefined) return found;
    const agent = /^(GET|POST) \/api\/v1\/agents\/([^/]+)\/([^/]+)\/([^/]+?)(?:\/(suspend|resume))?$/.exec(route);
    const revoked = /^POST \/api\/v1\/iam\/api-keys\/(\w+)\/revoke$/.exec(route)?.[1];
    if (agent !== null) return this.#agentHandler(by, agent);
    if (revoked !== undefined) return ['admin', () => this.#revoke(by, revoked)];
    switch (route) {
      case 'GET /api/v1/auth/me':
        return ['any', () => [200, { org_id: by.org_id, team_id: by.team_id, scopes: by.scopes }]];
      case 'GET /api/v1/iam/api-keys': {
        const managed = this.keys.filter((key) => by.org_id === null || sameBinding(by, key));
        return ['admin', () => this.#list(managed, this.keys, query)];
      }
      case 'POST /api/v1/iam/api-keys':
        return ['admin', () => this.#makeKey(by, body)];
      case 'POST /api/v1/iam/signing-keys/rotate': {
        const isOpen = by.org_id === null || this.#leak === 'an unbound route is open';
        return ['admin', () => (isOpen ? [201, { kid: 'new' }] : problem(403, 'tenant_bound'))];
      }
      case 'GET /api/v1/agents':
        return ['read', () => this.#list(this.#visible(by).map(shown), this.agents.map(shown), query)];
      case 'GET /api/v1/topology/stats': {
        const counted = this.#leak === 'a number counts others' ? this.agents : this.#visible(by);
        return ['read', () => [200, { agents: counted.filter((one) => this.#fits(one, query)).length }]];
      }
      case 'GET /api/v1/logs':
      case 'GET /api/v1/logs/export':
        return ['read', () => this.#readLog(by, query, route.endsWith('export'))];
      default:
        return [];
    }
  }

  #agentHandler(by: Key, [, method, org_id, team_id, agent_id, verb]: RegExpExecArray): [string, () => Reply] {
    return [
      method === 'GET' ? 'read' : 'write',
      () => {
        const found = this.agents.find(
          (one) => one.org_id === org_id && one.team_id === team_id && one.agent_id === agent_id,
        );
        const isSeen = found !== undefined && this.#sees(by, found);
        if (found !== undefined && !isSeen && this.#leak === 'a refusal that acts all the same')
          found.status = 'suspended';
        if (found === undefined || !isSeen)
          return this.#missing(`${org_id}/${team_id}/${agent_id}`, found !== undefined);
        if (verb !== undefined) found.status = verb === 'suspend' ? 'suspended' : 'active';
        return [200, shown(found)];
      },
    ];
  }

  #missing(name: string, exists: boolean): Reply {
    const detail = `there is no agent "${name}"`;
    if (exists && this.#leak === 'a forbidden record instead of a missing one') return problem(403, 'tenant_bound');
    if (exists && this.#leak === 'a telling detail') return problem(404, 'agent_not_found', `${detail} for you`);
    if (exists && this.#leak === 'a telling header')
      return [...problem(404, 'agent_not_found', detail), { 'x-found': '1' }];
    return problem(404, 'agent_not_found', detail);
  }

  #revoke(by: Key, id: string): Reply {
    const key = this.keys.find((candidate) => candidate.id === id);
    const manages = by.org_id === null || (key !== undefined && sameBinding(by, key));
    if (key === undefined || !(manages || this.#leak === 'keys of others can be revoked')) {
      return problem(404, 'key_not_found');
    }
    if (this.#leak === 'keys cannot be revoked') return problem(409, 'key_revoked');
    key.revoked_at ??= 'now';
    const { key: _, ...record } = key;
    return [200, record];
  }

  #makeKey(by: Key, { label = '', org_id, team_id, ...rest }: Record<string, string>): Reply {
    const binding = { org_id: org_id ?? by.org_id, team_id: team_id ?? by.team_id };
    const mayMake = by.org_id === null || sameBinding(by, binding) || this.#leak === 'keys for others';
    if (!mayMake || (this.#leak === 'its own is refused' && by.org_id !== null)) return problem(403, 'tenant_bound');
    const scopes = rest['scopes'] as unknown as string[];
    const key = { id: randomText(12), key: `key-${randomText(30)}`, label, scopes, ...binding, revoked_at: null };
    this.keys.push(key);
    return [201, key];
  }

  #readLog(by: Key, query: Record<string, string>, isExport: boolean): Reply {
    const isImpersonation = query['event_type'] === 'A2AImpersonationAttempted';
    const isAdmin = by.scopes.includes('admin') && by.team_id === null && this.#leak !== 'impersonations for nobody';
    const seesClaims = isImpersonation && query['org_id'] === undefined;
    const mayClaim = seesClaims && (isAdmin || this.#leak === 'impersonations for everybody');
    const entries = this.#log.filter(({ event_type, lineage, payload }) => {
      const isVisible = this.#sees(by, lineage) || (mayClaim && payload['claimed_org_id'] === by.org_id);
      const isAsked = query['event_type'] === undefined || query['event_type'] === event_type;
      const isSaid = query['q'] === undefined || JSON.stringify(payload).includes(query['q']);
      return isVisible && isAsked && isSaid && this.#fits(lineage, query);
    });
    if (!isExport) return [200, { items: entries, next_cursor: null }];
    if (query['format'] !== 'csv') return [200, asLines(entries), { 'content-type': 'application/x-ndjson' }];
    return [200, asCsv(entries), { 'content-type': 'text/csv; charset=utf-8' }];
  }

  #list<Item extends Binding>(own: readonly Item[], all: readonly Item[], query: Record<string, string>): Reply {
    const seen = this.#leak === 'a list ignores the binding' ? all : own;
    const items = seen.filter((item) => this.#fits(item, query));
    const start = Number(query['cursor']?.split('.')[0] ?? 0);
    const end = start + Number(query['per_page'] ?? 50);
    const hidden =
      this.#leak === 'a cursor holds others' ? `.${Buffer.from(JSON.stringify(all)).toString('base64url')}` : '';
    const total = this.#leak === 'a total counts others' ? all.length : items.length;
    return [200, { items: items.slice(start, end), next_cursor: end < items.length ? `${end}${hidden}` : null, total }];
  }

  #fits(item: Partial<Record<string, unknown>> | Binding, query: Record<string, string>): boolean {
    return Object.entries(item).every(([name, value]) => {
      if (name === 'org_id' && this.#leak === 'a filter by org is ignored') return true;
      return !name.endsWith('_id') || query[name] === undefined || query[name] === value;
    });
  }

  #visible(by: Key): Agent[] {
    return this.agents.filter((agent) => this.#sees(by, agent));
  }

  #sees(by: Binding, record: Binding): boolean {
    return reaches(this.#leak === 'a binding to a team is ignored' ? { ...by, team_id: null } : by, record);
  }

  #orgs(): string[] {
    return [...new Set(this.agents.map((agent) => agent.org_id))];
  }
}
