import type { Agent, Operation, Reeve } from '@reeve/sdk';
import { usd } from '@reeve/sdk';
import type { Case, ModelSpec, Table, ToolCallSpec, ToolSpec } from './table.ts';
import { filled } from './table.ts';

/** What a tool is given while it runs. */
export interface Hands {
  readonly signal: AbortSignal | undefined;
  readonly operation: Operation | undefined;
}

export interface SceneTool {
  readonly name: string;
  readonly args: ToolSpec['args'];
  readonly startsAgent: boolean;
  readonly body: (args: Readonly<Record<string, unknown>>, hands: Hands) => Promise<string>;
}

/** One turn of a model, with all that a subject needs for it. */
export interface Scene {
  readonly agent: Agent;
  readonly tools: readonly SceneTool[];
  readonly calls: readonly ToolCallSpec[];
  readonly model: ModelSpec;
  readonly governsModel: boolean;
  readonly runId: string | undefined;
  readonly approvalWaitMs: number;
  /** Estimated costs, by tool. */
  readonly costs: Readonly<Record<string, number>>;
  /** What a tool really costs, for frameworks whose tools cannot say so. */
  readonly spent: (tool: string) => number | undefined;
  readonly subagents: readonly string[];
}

/** What the model read, call by call, and how the run ended if not well. */
export interface Played {
  readonly reads: readonly string[];
  readonly error?: unknown;
}

/** The plain SDK, or an adapter in the agent loop of its framework. */
export interface Subject {
  readonly name: string;
  play(scene: Scene): Promise<Played>;
}

/** Counts and holds the bodies of the tools of one case. */
export class Stage {
  readonly ran: Record<string, number> = {};
  readonly stopped = new Set<string>();
  readonly #released = new Map<string, () => void>();
  readonly #gates = new Map<string, Promise<void>>();
  readonly #subject: Subject;
  readonly #table: Table;
  readonly #reeve: Reeve;

  constructor(subject: Subject, table: Table, reeve: Reeve) {
    this.#subject = subject;
    this.#table = table;
    this.#reeve = reeve;
    for (const [name, { waits }] of Object.entries(table.tools)) {
      if (waits === true) this.#gates.set(name, new Promise((resolve) => this.#released.set(name, resolve)));
    }
  }

  release(tool: string): void {
    this.#released.get(tool)?.();
  }

  scene(agent: Agent, given: Case): Scene {
    const specs = Object.entries(this.#table.tools);
    const money = (usdOf: (spec: ToolSpec) => string | undefined) =>
      Object.fromEntries(
        specs.flatMap(([name, spec]) => {
          const amount = usdOf(spec);
          return amount === undefined ? [] : [[name, usd(amount)] as const];
        }),
      );
    const spends = money(({ spends_usd: amount }) => amount);
    const scene: Scene = {
      agent,
      tools: specs.map(([name, spec]) => ({
        name,
        args: spec.args,
        startsAgent: spec.starts !== undefined,
        body: (args, hands) => this.#run(name, spec, args, hands, scene),
      })),
      calls: given.calls,
      model: this.#table.model,
      governsModel: given.model === true,
      runId: given.run_id,
      approvalWaitMs: given.wait_ms ?? 120_000,
      costs: money(({ estimate_usd: amount }) => amount),
      spent: (tool) => spends[tool],
      subagents: specs.filter(([, { starts }]) => starts !== undefined).map(([name]) => name),
    };
    return scene;
  }

  async #run(
    name: string,
    spec: ToolSpec,
    args: Readonly<Record<string, unknown>>,
    { signal, operation }: Hands,
    scene: Scene,
  ): Promise<string> {
    this.ran[name] = (this.ran[name] ?? 0) + 1;
    signal?.addEventListener('abort', () => this.stopped.add(name));
    if (spec.waits === true) await Promise.race([this.#gates.get(name), aborted(signal)]);
    await operation?.checkpoint();
    if (spec.spends_usd !== undefined) operation?.spent(usd(spec.spends_usd));
    if (spec.starts !== undefined) await this.#start(spec.starts, scene);
    if (spec.throws !== undefined) throw new Error(filled(spec.throws, args));
    return filled(spec.returns ?? '', args);
  }

  /** The sub-agent makes one call. The run comes from the call around it. */
  async #start(call: ToolCallSpec, scene: Scene): Promise<void> {
    const { id: parent } = scene.agent;
    const child = await this.#reeve.register({ ...parent, agentId: `${parent.agentId}.child`, parent });
    const { error } = await this.#subject.play({ ...scene, agent: child, calls: [call], runId: undefined });
    await child.close();
    if (error !== undefined) throw error;
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
