import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent, Control, Operation, Reeve, RunOptions } from '@reeve/sdk';
import { ReeveError } from '@reeve/sdk';
import { between } from './world.ts';

/** How controls reach an agent's work. */
export type Manner =
  /** It passes checkpoints, and hands the signal to slow work. */
  | 'checkpoints'
  /** The same, but it never ends by itself. */
  | 'endless'
  /** It reacts only to the signal. */
  | 'signal'
  /** It reacts to nothing. Only its end is a checkpoint. */
  | 'nothing'
  /** It says that it cannot be paused. */
  | 'unpausable';

export const cannotPause = 'this work cannot be paused';

/** An agent that does one piece of work after another, two at a time, until released. It notes what really happened. */
export class StormAgent {
  readonly name: string;
  readonly manner: Manner;
  /** The ids of the controls that reached it. */
  readonly taken = new Set<string>();
  /** When each of its operations made a step, by id. */
  readonly steps = new Map<string, number[]>();
  #agent: Agent | undefined;
  #lanes: Promise<void>[] = [];
  #letGo = false;
  #lost = false;

  constructor(name: string, manner: Manner) {
    this.name = name;
    this.manner = manner;
  }

  async start(reeve: Reeve, id: { orgId: string; teamId: string }): Promise<void> {
    const onControl = ({ controlId }: Control) => this.taken.add(controlId);
    this.#agent = await reeve.register({ ...id, agentId: this.name, onControl });
    this.#lanes = [this.#live(this.#agent), this.#live(this.#agent)];
  }

  /** Whether its process was killed, with all its work. */
  get lost(): boolean {
    return this.#lost;
  }

  lose(): void {
    this.#lost = true;
  }

  /** It finishes its work and starts nothing more. */
  letGo(): void {
    this.#letGo = true;
  }

  /** Waits until it has finished, and the gateway knows everything. */
  async ended(): Promise<void> {
    await Promise.all(this.#lanes);
    if (!this.#lost) await this.#agent?.close();
  }

  async #live(agent: Agent): Promise<void> {
    for (let nth = 0; !this.#letGo && !this.#lost; nth++) {
      const runId = `run-${nth % 5}`;
      const options: RunOptions = this.manner === 'unpausable' ? { runId, onControl: refusePause } : { runId };
      try {
        await agent.run({ tool: 'work', args: { nth } }, (operation) => this.#work(operation), options);
      } catch (error) {
        // Terminated, denied for lack of an answer, or cut off.
        if (!(error instanceof ReeveError) && !isAborted(error)) throw error;
      }
      await sleep(between(20, 150));
    }
  }

  async #work(operation: Operation): Promise<void> {
    const steps: number[] = [];
    this.steps.set(operation.id, steps);
    const units = this.manner === 'endless' ? Number.POSITIVE_INFINITY : between(1, 8);
    for (let unit = 0; unit < units && !this.#letGo; unit++) {
      if (this.manner === 'checkpoints' || this.manner === 'endless') await operation.checkpoint();
      steps.push(Date.now());
      await sleep(between(100, 500), undefined, this.manner === 'nothing' ? {} : { signal: operation.signal });
      steps.push(Date.now());
    }
  }
}

function refusePause({ signal }: Control): void {
  if (signal === 'pause') throw new Error(cannotPause);
}

function isAborted(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
