import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Problem, RouteOutput, Routes } from '@reeve/contract/http';
import { expect } from 'vitest';
import type { HttpAnswer } from '../../harness/http-client.ts';
import type { World } from './world.ts';
import { between, oneOf } from './world.ts';

type OpJson = RouteOutput<Routes['getOp']>;
type Controlled = RouteOutput<Routes['pauseOp']>;
type ScopeResult = RouteOutput<Routes['controlScope']>;
type OpList = RouteOutput<Routes['listOps']>;

const verbs = ['pause', 'pause', 'pause', 'resume', 'resume', 'resume', 'resume', 'terminate'] as const;

/** An operator who pauses, resumes and terminates at random, one operation or many. */
export class StormOperator {
  readonly #world: World;
  readonly #key: string;
  /** The receipts that the gateway has promised. */
  readonly receipts = new Set<string>();
  /** The gateway's answers to scoped controls, by id. */
  readonly bulks = new Map<string, ScopeResult>();
  /** How often another operator was faster. */
  refused = 0;
  /** The operations that the operators watch. They share them, so that they collide. */
  readonly #sights: { op: OpJson | undefined };

  constructor(world: World, key: string, sights: { op: OpJson | undefined }) {
    this.#world = world;
    this.#key = key;
    this.#sights = sights;
  }

  async storm(until: () => boolean): Promise<void> {
    while (!until()) {
      if (Math.random() < 0.85) await this.#single();
      else await this.#scoped();
      await sleep(between(10, 60));
    }
  }

  /** Controls everything within a scope. Repeats the request until answered, however often the gateway is killed. */
  async control(action: (typeof verbs)[number], scope: object): Promise<ScopeResult> {
    const headers = { 'idempotency-key': randomUUID() };
    const json = { action, scope, reason: 'the storm' };
    for (;;) {
      const answer = await this.#send<ScopeResult>('POST', '/api/v1/control', { json, headers });
      if (answer === undefined) continue;
      expect(answer.status, answer.text).toBe(202);
      const { matched, changed, skipped, control_id } = answer.body;
      expect(changed + skipped).toBe(matched);
      this.bulks.set(control_id ?? '', answer.body);
      return answer.body;
    }
  }

  async #single(): Promise<void> {
    const op = Math.random() < 0.4 ? this.#sights.op : await this.#look();
    if (op === undefined) return;
    this.#sights.op = op;
    const verb = oneOf(verbs) ?? 'pause';
    const path = `/api/v1/ops/${encodeURIComponent(op.op_id)}/${verb}`;
    const answer = await this.#send<Controlled & Problem>('POST', path, { json: { reason: 'the storm' } });
    if (answer === undefined) return;
    if (answer.status === 409) {
      expect(answer.body).toMatchObject({ code: 'invalid_transition', state: expect.any(String) });
      expect(answer.body['allowed']).not.toContain(verb);
      this.refused++;
      return;
    }
    expect(answer.status, answer.text).toBe(202);
    const { control, op: after } = answer.body;
    if (control === null) expect([verb, after.state]).toEqual(['terminate', 'terminated']);
    else this.receipts.add(control.id);
  }

  async #scoped(): Promise<void> {
    const op = await this.#look();
    if (op === undefined) return;
    const { org_id, team_id, agent_id } = op.agent;
    const narrow =
      oneOf([
        { run_id: op.run_id, org_id, team_id },
        { org_id, team_id, agent_id },
      ]) ?? {};
    const wide = oneOf([{ org_id, team_id }, { org_id }, { all: true }]) ?? {};
    const verb = oneOf(verbs) ?? 'pause';
    await this.control(verb, verb === 'terminate' ? narrow : wide);
    if (verb !== 'pause') return;
    // A pause of many is short, so that others make progress.
    await sleep(between(0, 800));
    await this.control('resume', wide);
  }

  async #look(): Promise<OpJson | undefined> {
    const state = Math.random() < 0.5 ? 'running' : 'paused';
    const answer = await this.#send<OpList>('GET', `/api/v1/ops?state=${state}&per_page=20`);
    return oneOf(answer?.body.items ?? []);
  }

  /** Undefined without an answer, because the gateway was gone. */
  async #send<Body>(
    method: string,
    path: string,
    request: { readonly json?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<HttpAnswer<Body> | undefined> {
    try {
      return await this.#world.gateway.api.send<Body>(method, path, { bearer: this.#key, ...request });
    } catch (error) {
      if (!isCutOff(error)) throw error;
      await sleep(50);
      return undefined;
    }
  }
}

/** Whether a request failed because the gateway was not there, or went away. */
export function isCutOff(error: unknown): boolean {
  return error instanceof TypeError && ['fetch failed', 'terminated'].includes(error.message);
}
