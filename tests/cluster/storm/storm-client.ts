import { setTimeout as sleep } from 'node:timers/promises';
import {
  CheckActionRequest,
  CheckActionResponse,
  CompleteActionRequest,
  CompleteActionResponse,
  paths,
  RegisterAgentRequest,
  RegisterAgentResponse,
} from '@reeve/contract';
import { checkRequest, toolCall } from '../../harness/gateway.ts';
import type { Chance } from '../../trust/chance.ts';
import { gate } from '../checker/policies.ts';
import type { Answer } from '../checker/told.ts';
import { anywhere, http, Refusal, rpc, Unknown } from './calls.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNode } from './node.ts';
import type { KnownOp, Notes, StormAgentId } from './notes.ts';
import { nameOf } from './notes.ts';

const decisions = ['none', 'allow', 'deny', 'pending'] as const;
const mostAtOnce = 6;

type Request = ReturnType<typeof checkRequest>;
type Asked = Notes['checks'][number];

interface ClientOptions {
  readonly cluster: Cluster;
  readonly chance: Chance;
  readonly notes: Notes;
  readonly agent: StormAgentId;
  /** The trace of all its operations. */
  readonly name: string;
  /** The most that it rests after each step. */
  readonly restMs: number;
}

/** An agent's process. Several share an agent, and each asks at whichever gateway it likes. */
export class StormClient {
  readonly #cluster: Cluster;
  readonly #chance: Chance;
  readonly #notes: Notes;
  readonly #agent: StormAgentId;
  /** The client chooses it, so that it can register again if an answer stays away. */
  readonly #token: string;
  readonly #name: string;
  readonly #restMs: number;
  readonly #past: { request: Request; asked: Asked }[] = [];
  readonly #running: KnownOp[] = [];
  #next = 0;

  constructor({ cluster, chance, notes, agent, name, restMs }: ClientOptions) {
    this.#cluster = cluster;
    this.#chance = chance;
    this.#notes = notes;
    this.#agent = agent;
    this.#name = name;
    this.#restMs = restMs;
    this.#token = `token-of-${agent.agentId}-`.padEnd(40, 'x');
  }

  async register(): Promise<void> {
    const request: RegisterAgentRequest = {
      agentId: this.#agent,
      credentialToken: this.#token,
      name: '',
      framework: '',
      version: '',
      parentAgentId: undefined,
      metadata: {},
      toolNames: [],
    };
    await this.#anywhere((node) =>
      rpc(node, paths.registerAgent, [RegisterAgentRequest, RegisterAgentResponse], request),
    );
    this.#notes.registered.push(nameOf(this.#agent));
  }

  async storm(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const roll = this.#chance.next();
      if (this.#running.length >= mostAtOnce || roll < 0.3) await this.#complete();
      else if (roll < 0.4) await this.#replay();
      else if (roll < 0.41) await this.register();
      else await this.#check();
      await sleep(this.#chance.between(0, this.#restMs));
    }
    // Some operations stay behind, for operators to end.
    while (this.#running.length > 1) await this.#complete();
  }

  async #check(): Promise<void> {
    const chance = this.#chance;
    const [traceId, spanId] = [this.#name, String(this.#next++)];
    const tool = chance.oneOf(['search', 'search', 'search', 'search', 'ask', 'never', gate] as const);
    const estimatedCostMicros = chance.happens(0.9) ? 1000 + chance.below(19_000) : 0;
    const who = { id: this.#agent, token: this.#token };
    const request = checkRequest(who, { traceId, spanId, estimatedCostMicros, context: toolCall(tool) });
    const asked: Asked = { agent: nameOf(this.#agent), traceId, spanId, attempts: 0, answers: [] };
    this.#notes.checks.push(asked);
    this.#past.push({ request, asked });
    const answers = await this.#askAll(request, asked);
    const isAllowed = answers.some(({ decision }) => decision === 'allow');
    const op: KnownOp = {
      agent: this.#agent,
      opId: `${traceId}:${spanId}`,
      costMicros: estimatedCostMicros,
      known: isAllowed ? ['running'] : [],
      completions: 0,
    };
    if (answers.some(({ decision }) => decision !== 'deny')) this.#notes.inFlight.push(op);
    if (isAllowed) this.#running.push(op);
    if (answers.some(({ opId }) => opId !== '') && chance.happens(0.2)) await this.#look(op);
  }

  /** Asks again what was asked before. */
  async #replay(): Promise<void> {
    const past = this.#chance.oneOf(this.#past.slice(-30));
    if (past !== undefined) await this.#askAll(past.request, past.asked);
  }

  /** Now and then two gateways are asked at once. */
  #askAll(request: Request, asked: Asked): Promise<Answer[]> {
    const copies = this.#chance.happens(0.15) ? 2 : 1;
    return Promise.all(Array.from({ length: copies }, () => this.#ask(request, asked)));
  }

  #ask(request: Request, asked: Asked): Promise<Answer> {
    return this.#anywhere(async (node) => {
      asked.attempts++;
      const { decision, reason, opId, approvalId } = await rpc(
        node,
        paths.checkAction,
        [CheckActionRequest, CheckActionResponse],
        request,
      );
      const answer = { decision: decisions[decision] ?? 'none', reason, opId, approvalId };
      asked.answers.push(answer);
      return answer;
    });
  }

  async #complete(): Promise<void> {
    const chance = this.#chance;
    const [op] = this.#running.splice(chance.below(this.#running.length), 1);
    if (op === undefined) return;
    // Little is settled, so that reservations are what fills the caps, for however long the storm lasts.
    const actualCostMicros = chance.happens(0.1) ? Math.min(op.costMicros, chance.below(50)) : 0;
    const copies = chance.happens(0.1) ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => this.#completeOnce(op, actualCostMicros)));
    if (chance.happens(0.4)) await this.#look(op);
  }

  /** Reads an operation, which must not be older than what is known of it. */
  async #look({ opId, known }: KnownOp): Promise<void> {
    const node = this.#chance.oneOf(this.#cluster.nodes);
    if (node === undefined) throw new Error('there is no gateway');
    const askedAt = performance.now();
    try {
      const { status, body } = await http(node, 'GET', `/api/v1/ops/${encodeURIComponent(opId)}`);
      if (!node.couldAskSince(askedAt)) return;
      const state = status === 404 ? undefined : String(body['state']);
      this.#notes.reads.push({ op: `${nameOf(this.#agent)} ${opId}`, known: [...known], state, by: node.name });
      if (state !== undefined) known.push(state);
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
    }
  }

  async #completeOnce(known: KnownOp, costMicros: number): Promise<void> {
    const request: CompleteActionRequest = {
      agentId: this.#agent,
      credentialToken: this.#token,
      opId: known.opId,
      actualCostMicros: costMicros,
      outcome: 0,
      detail: '',
    };
    const op = `${nameOf(this.#agent)} ${known.opId}`;
    try {
      await this.#anywhere((node) => {
        known.completions++;
        return rpc(node, paths.completeAction, [CompleteActionRequest, CompleteActionResponse], request);
      });
      this.#notes.completed.push({ op, costMicros });
      known.known.push('completing');
    } catch (error) {
      // It was paused or terminated, or the first attempt had arrived after all.
      if (!(error instanceof Refusal)) throw error;
      const isSuspended = error.message.includes('agent is suspended');
      if (!isSuspended) this.#notes.refused.push({ op, attempts: known.completions, says: error.message });
      // It may run on later. Otherwise operators end it.
      const isPaused = error.message.includes('operation that is paused');
      if ((isSuspended || isPaused) && this.#chance.happens(0.7)) this.#running.push(known);
    }
  }

  #anywhere<Result>(call: (node: ClusterNode) => Promise<Result>): Promise<Result> {
    return anywhere(this.#cluster, this.#chance, this.#notes, call);
  }
}
