import { paths, RegisterAgentRequest, RegisterAgentResponse } from '@reeve/contract';
import { GrpcConnection } from './grpc-connection.ts';
import type { Credential, Template } from './check-template.ts';
import {
  allowedTool,
  batchTemplate,
  checkTemplate,
  completeTemplate,
  deniedTool,
  filled,
  smallCheckTemplate,
} from './check-template.ts';
import { framedMessage, requestHead } from './http2-frames.ts';
import type { SetupResult, SmallCheck } from './load-protocol.ts';
import { batchSize, bootstrapKey } from './load-protocol.ts';
import type { SubjectTokens } from './subject-tokens.ts';

/** In a mixed batch, one entry in this many is allowed. */
export const allowOneIn = 10;

/**
 * The registered agents of one gateway, and the messages they send. Operations are numbered: number `n` belongs to the
 * agent `n % agents`, so its number is enough to complete it.
 */
export class Fleet {
  readonly #agents: readonly Credential[];
  /** Who vouches for the users of checks. */
  tokens: SubjectTokens | undefined;
  #checks: Template[] = [];
  #checksFor: Template[] = [];
  readonly #smallChecks = new Map<SmallCheck, readonly Template[]>();
  #batches: Template[] = [];
  #mixed: Template[] = [];
  #completions: Template[] = [];
  #next = 0;
  /** Allowed operations that are not completed, as ranges of numbers; the end is excluded. */
  readonly #open: { from: number; readonly to: number }[] = [];

  /**
   * The number of agents is a multiple of the batch size, so that batches and single checks agree on the agent of each
   * operation.
   */
  constructor(agents: readonly Credential[]) {
    if (agents.length % batchSize !== 0) throw new Error(`a fleet is a multiple of ${batchSize} agents`);
    this.#agents = agents;
  }

  get agents(): readonly Credential[] {
    return this.#agents;
  }

  nextCheck(subject?: 'known' | 'new'): Buffer {
    if (subject !== undefined) return this.#nextCheckFor(subject);
    if (this.#checks.length === 0) this.#checks = this.#agents.map((agent) => checkTemplate(agent, allowedTool));
    return filledAt(this.#checks, this.#next, this.#next++);
  }

  /** A check for a user. A new token makes the message another one, so it is encoded anew. */
  #nextCheckFor(subject: 'known' | 'new'): Buffer {
    const { tokens } = this;
    if (tokens === undefined) throw new Error('nobody vouches for users');
    const number = this.#next++;
    if (subject === 'new') {
      const agent = this.#agents[number % this.#agents.length];
      if (agent === undefined) throw new Error('the fleet has no agents');
      return filled(checkTemplate(agent, allowedTool, tokens.next()), number);
    }
    if (this.#checksFor.length === 0) {
      this.#checksFor = this.#agents.map((agent) => checkTemplate(agent, allowedTool, tokens.next()));
    }
    return filledAt(this.#checksFor, number, number);
  }

  nextSmallCheck(check: SmallCheck = 'plain'): Buffer {
    let templates = this.#smallChecks.get(check);
    if (templates === undefined) {
      templates = this.#agents.map((agent) => smallCheckTemplate(agent, check));
      this.#smallChecks.set(check, templates);
    }
    return filledAt(templates, this.#next, this.#next++);
  }

  /** The number of the newest operation. */
  get newest(): number {
    return this.#next - 1;
  }

  nextBatch(): Buffer {
    if (this.#batches.length === 0) this.#batches = this.#inBatches(() => allowedTool);
    return this.#take(this.#batches).framed;
  }

  /** A batch that is allowed in part, and the numbers of the allowed operations. */
  nextMixedBatch(): { readonly framed: Buffer; readonly allowed: readonly number[] } {
    if (this.#mixed.length === 0) {
      this.#mixed = this.#inBatches((index) => (index % allowOneIn === 0 ? allowedTool : deniedTool));
    }
    const { framed, first } = this.#take(this.#mixed);
    return {
      framed,
      allowed: Array.from({ length: batchSize / allowOneIn }, (_, index) => first + index * allowOneIn),
    };
  }

  completion(number: number): Buffer {
    if (this.#completions.length === 0) this.#completions = this.#agents.map(completeTemplate);
    return filledAt(this.#completions, number, number);
  }

  /** Returns a function that notes as open all operations numbered since this call. */
  opening(): () => void {
    const from = this.#next;
    return () => this.#open.push({ from, to: this.#next });
  }

  /** The number of an open operation; undefined once all are completed. */
  nextOpen(): number | undefined {
    let range = this.#open[0];
    while (range !== undefined && range.from >= range.to) {
      this.#open.shift();
      range = this.#open[0];
    }
    return range === undefined ? undefined : range.from++;
  }

  #take(batches: readonly Template[]): { framed: Buffer; first: number } {
    this.#next = Math.ceil(this.#next / batchSize) * batchSize;
    const first = this.#next;
    this.#next += batchSize;
    return { framed: filledAt(batches, first / batchSize, first), first };
  }

  #inBatches(toolOf: (index: number) => string): Template[] {
    return Array.from({ length: this.#agents.length / batchSize }, (_, batch) => {
      const agents = this.#agents.slice(batch * batchSize, (batch + 1) * batchSize);
      return batchTemplate(agents.map((agent, index) => ({ agent, tool: toolOf(index) })));
    });
  }
}

function filledAt(templates: readonly Template[], at: number, first: number): Buffer {
  const template = templates[at % templates.length];
  if (template === undefined) throw new Error('the fleet has no agents');
  return filled(template, first);
}

/** Registers agents, spread evenly over orgs. */
export async function registerFleet(
  address: string,
  count: number,
  orgs: number,
  orgPrefix = 'org',
): Promise<{ fleet: Fleet; result: SetupResult }> {
  const connection = await GrpcConnection.open(address);
  const head = requestHead(address, paths.registerAgent, { authorization: `Bearer ${bootstrapKey}` });
  const agents: Credential[] = [];
  const startedAt = performance.now();
  const failed = await pipelined(count, (number, done) => {
    const id = { orgId: `${orgPrefix}-${number % orgs}`, teamId: `team-${number % 7}`, agentId: `agent-${number}` };
    const request: RegisterAgentRequest = {
      agentId: id,
      credentialToken: '',
      name: `Agent ${number}`,
      framework: 'bench',
      version: '1.0.0',
      parentAgentId: undefined,
      metadata: {},
      toolNames: [],
    };
    connection.unary(head, framedMessage(RegisterAgentRequest.encode(request).finish()), (answer) => {
      if (answer !== undefined) agents[number] = { id, token: RegisterAgentResponse.decode(answer).credentialToken };
      done(answer !== undefined);
    });
  });
  connection.close();
  if (failed > 0) throw new Error(`${failed} of ${count} agents could not be registered at ${address}`);
  return { fleet: new Fleet(agents), result: { done: count, failed, seconds: secondsSince(startedAt) } };
}

/** Runs tasks 0 to `count - 1`, many at a time, and returns how many failed. */
export function pipelined(
  count: number,
  task: (number: number, done: (ok: boolean) => void) => void,
  width = 128,
): Promise<number> {
  return new Promise((resolve) => {
    let started = 0;
    let ended = 0;
    let failed = 0;
    const start = () => {
      if (started === count) return;
      task(started++, (ok) => {
        ended++;
        if (!ok) failed++;
        if (ended === count) resolve(failed);
        else start();
      });
    };
    if (count === 0) resolve(0);
    for (let lane = 0; lane < width; lane++) start();
  });
}

export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
