import type { AbandonedIds } from './abandoned-ids.ts';
import { GivenAnswers } from './given-answers.ts';
import type { Governor } from './govern/governor.ts';
import { visibleTools } from './govern/list-tools.ts';
import { judgedInputs } from './input-requests.ts';
import type { ToolCatalog } from './lock/tool-catalog.ts';
import type { Arrival, PendingRequest } from './pending-requests.ts';
import { passOn } from './pending-requests.ts';
import type { JsonId, Message } from './protocol/message.ts';
import { errorMessage } from './protocol/message.ts';
import type { ServerVoice } from './server-voice.ts';
import type { Exchange, Mark } from './transport/exchange.ts';

const notAgain = 'the answer was not given here, or is no longer kept, and cannot be judged again: ask once more';

/** Answers of the server on their way to the client. */
export class ClientAnswers {
  readonly #governor: Governor;
  readonly #catalog: ToolCatalog;
  readonly #voice: ServerVoice;
  readonly #abandoned: AbandonedIds;
  readonly #given = new GivenAnswers();

  constructor(governor: Governor, catalog: ToolCatalog, voice: ServerVoice, abandoned: AbandonedIds) {
    this.#governor = governor;
    this.#catalog = catalog;
    this.#voice = voice;
    this.#abandoned = abandoned;
  }

  /** An answer passes as it is. */
  passes(message: Message, mark: Mark | undefined, request?: PendingRequest): void {
    if (request !== undefined) this.#voice.answered(request, message);
    if (mark?.id !== undefined) this.#given.add(message, message);
  }

  /** Gives the answer to a request that is no check, where parts of it may not be seen. */
  async show(request: PendingRequest, came: Arrival, runId: string): Promise<void> {
    const { message } = came;
    const isList = message !== undefined && request.method === 'tools/list';
    const seen = isList ? { ...came, message: await this.#visible(message) } : came;
    await this.give(request, seen, came, runId);
  }

  /** Gives what may be seen of what came. */
  async give(request: PendingRequest, seen: Arrival, came: Arrival, runId: string): Promise<void> {
    if (seen.message === undefined) return passOn(request.id, seen);
    const isAsking = this.#governor.methods.ofServer.size > 0;
    const message = isAsking ? await judgedInputs(seen.message, this.#governor, seen.exchange, runId) : seen.message;
    this.#voice.answered(request, message);
    // Lists are made visible anew each time: what policy denies may be another tool by then.
    const isList = request.method === 'tools/list';
    if (seen.mark?.id !== undefined && came.message !== undefined) {
      this.#given.add(came.message, isList ? came.message : message);
    }
    await passOn(request.id, { ...seen, message });
  }

  /** An answer that nobody waits for, or nobody asked for, goes nowhere. On a replay it was given before. */
  async repeat(id: JsonId, message: Message, from: Exchange | undefined, mark: Mark | undefined): Promise<void> {
    const isWithheld = this.#abandoned.isWithheld(id);
    if (from === undefined) this.#abandoned.answered(id);
    if (from?.isReplay !== true || isWithheld) return;
    const given = this.#given.find(message) ?? errorMessage(id, -32_001, `Denied by policy: ${notAgain}`);
    await from.deliver(await this.#visible(given), mark);
  }

  #visible(message: Message): Promise<Message> {
    return visibleTools(message, this.#governor, this.#catalog);
  }
}
