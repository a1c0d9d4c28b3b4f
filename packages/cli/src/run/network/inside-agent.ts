import type { Agent } from '@reeve/sdk';
import { ReeveInvalidTransition, ReeveUnavailable } from '@reeve/sdk';
import { CliError } from '../../cli-error.ts';
import { floorExits } from '../floor-error.ts';
import { randomBytes } from './inside-environment.ts';

const ttlSecs = 300;
const longestName = 100;
/** All delegates of an agent share one bound. What runs inside cannot use it up, and so keep other runs from starting. */
const maxDelegates = 16;
const deadlineMs = 10_000;

/**
 * Who hooks and SDKs inside act as: a delegate of the run's agent. It is another agent, so what the run does is none of its
 * business. It ends with the run, and soon if nobody is left to say so.
 */
export class InsideAgent {
  readonly #agent: Agent;
  readonly #token: string;
  readonly #id: string;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  /** The last time that it was delegated to, which may still be under way. */
  #extending: Promise<void> = Promise.resolve();

  constructor(agent: Agent, token: string) {
    this.#agent = agent;
    this.#token = token;
    this.#id = `${agent.id.agentId.slice(0, longestName)}.inside-${randomBytes(6).toString('hex')}`;
  }

  async begin(): Promise<void> {
    await this.#delegateOnce().catch((error: unknown) => {
      if (!isHeld(error)) throw error;
      throw new CliError(`denied: ${error.message}`, { exitCode: floorExits.denied, cause: error });
    });
    // A gateway that was lost meanwhile gets it again later: the token stays the same.
    this.#timer = setInterval(() => void this.extend(), (ttlSecs * 1000) / 3).unref();
  }

  /**
   * A while more from now on, or again where it has lapsed. What the gateway refuses now, it may grant the next time. Returns whether
   * the gateway has answered.
   */
  async extend(): Promise<boolean> {
    try {
      if (!this.#hasEnded) await this.#delegateOnce();
      return true;
    } catch (error) {
      return !(error instanceof ReeveUnavailable);
    }
  }

  /** What is under way comes before the revocation: after it, the token would count again. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    clearInterval(this.#timer);
    await this.#extending.catch(() => {});
    await this.#agent.revokeDelegation(this.#id).catch(() => {});
  }

  /** One after the other. Whoever asks while one is under way gets another: it may have begun before what made them ask. */
  #delegateOnce(): Promise<void> {
    this.#extending = this.#extending.catch(() => {}).then(() => this.#delegate());
    return this.#extending;
  }

  async #delegate(): Promise<void> {
    const name = 'inside reeve run';
    const terms = { childId: this.#id, ttl: ttlSecs, token: this.#token, name, maxDelegates };
    await this.#agent.enrollDelegate(terms, { deadlineMs });
  }
}

/** Whether the agent may not act at present, although its check was allowed. The status is that of other refusals as well. */
function isHeld(error: unknown): error is ReeveInvalidTransition {
  return error instanceof ReeveInvalidTransition && error.message.startsWith('agent is suspended or');
}
