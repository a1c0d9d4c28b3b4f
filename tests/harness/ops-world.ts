import type { Action, Agent, Operation, Reeve, RunOptions } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Login, PageOptions } from './browser.ts';
import { registerOwner, signIn, TestBrowser } from './browser.ts';
import { bootstrapKey, TestGateway } from './gateway.ts';
import { password, Person } from './person.ts';

const policy = `
name: base
default: allow
rules:
  - { name: refunds-need-a-person, effect: require_approval, tools: ['refund*'] }
`;

/** For many pages and operations in a short time, from one address. */
export const unlimited = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_RATE_LIMIT_API_PER_MIN: '0' };

export interface Work {
  readonly operation: Operation;
  /** The path for controls by an operator. */
  readonly path: string;
  readonly end: () => void;
}

/** A gateway with real SDK agents, and a browser with the owner signed in. */
export class OpsWorld {
  readonly browser: TestBrowser;
  readonly gateway: TestGateway;
  readonly reeve: Reeve;
  readonly #home: Page;

  private constructor(browser: TestBrowser, gateway: TestGateway, home: Page) {
    this.browser = browser;
    this.gateway = gateway;
    this.reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey });
    this.#home = home;
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<OpsWorld> {
    const browser = await TestBrowser.launch();
    const gateway = await TestGateway.start({ policies: { 'base.yaml': policy }, env: { ...unlimited, ...env } });
    // Registers before the page opens, which would otherwise offer to create the owner's account.
    const owner = await registerOwner(gateway);
    const home = await browser.open(gateway, { path: '/policies' });
    await signIn(home, owner);
    return new OpsWorld(browser, gateway, home);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    this.reeve.close();
    await this.gateway[Symbol.asyncDispose]();
  }

  /** Opens a page in another tab of the owner, or in another browser for another login or look. */
  async open(path: string, options: Omit<PageOptions, 'path'> & { readonly login?: Login } = {}): Promise<Page> {
    const { login, ...look } = options;
    const isOwn = login === undefined && look.theme === undefined && look.viewport === undefined;
    const page = await this.browser.open(this.gateway, { ...look, path, ...(isOwn ? { besides: this.#home } : {}) });
    if (!isOwn) await signIn(page, login ?? { email: 'owner@example.com', password });
    await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor();
    return page;
  }

  async member(email: string, role: string): Promise<Person> {
    const body = { email, role };
    const answer = await this.gateway.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, body);
    const person = new Person(this.gateway);
    expect((await person.accept(answer.body.token)).status).toBe(201);
    return person;
  }

  agent(orgId: string, agentId = 'bot', teamId = 'core'): Promise<Agent> {
    return this.reeve.register({ orgId, teamId, agentId });
  }
}

/** Work of a real agent that runs until the test or an operator ends it. */
export async function startWork(agent: Agent, action: Action, options: RunOptions = {}): Promise<Work> {
  const started = Promise.withResolvers<Operation>();
  const work = Promise.withResolvers<void>();
  const perform = (operation: Operation) => {
    started.resolve(operation);
    operation.signal.addEventListener('abort', () => work.reject(operation.signal.reason));
    return work.promise;
  };
  agent.run(action, perform, options).catch((error: unknown) => started.reject(error));
  const operation = await started.promise;
  const { orgId, teamId, agentId } = agent.id;
  const address = [orgId === '' ? '-' : orgId, teamId === '' ? '-' : teamId, agentId, operation.id].join('/');
  return { operation, path: `/api/v1/ops/${encodeURIComponent(address)}`, end: work.resolve };
}

export function rowOf(page: Page, name: string | RegExp): Locator {
  return page.getByRole('row', { name });
}

export function gridOf(page: Page): Locator {
  return page.getByRole('grid', { name: 'Operations' });
}

export function dialogOf(page: Page, name: string | RegExp): Locator {
  return page.getByRole('dialog', { name });
}

export function whenLive(page: Page): Promise<void> {
  return page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
}
