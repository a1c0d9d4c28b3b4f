import { BoundedSet } from './bounded-set.ts';
import type { CallsUnderWay } from './calls-under-way.ts';
import type { Governor } from './govern/governor.ts';
import type { JudgedTasks } from './judged-tasks.ts';
import type { Person } from './person.ts';
import type { PendingRequest, PendingRequests } from './pending-requests.ts';
import { metaOf, subscriptionKey } from './protocol/envelope.ts';
import type { Message, Request } from './protocol/message.ts';
import { asNotification, asRequest, keyOf } from './protocol/message.ts';
import { isObject } from './protocol/written-json.ts';
import { ServerRequests } from './server-requests.ts';
import type { Exchange, Mark } from './transport/exchange.ts';
import { wordless } from './wordless.ts';

interface VoiceOptions {
  readonly governor: Governor;
  readonly pending: PendingRequests;
  readonly calls: CallsUnderWay;
  /** Where a message goes that belongs to no exchange. */
  readonly unrelated: (isRequest: boolean) => Exchange | undefined;
  /** For whom the client acted last. */
  readonly person: () => Person | undefined;
  /** Whether the server may say here what concerns calls that others have made. */
  readonly hearsOthers: boolean;
  /** What is known of the server's tasks, here and in other sessions of the same client. */
  readonly tasks: JudgedTasks;
  readonly toServer: (message: Message, exchange: Exchange) => Promise<void>;
}

const mostSubscribed = 10_000;
const listening = 'subscriptions/listen';

/**
 * What a server says by itself. Once a result of the session is judged, notifications pass without the server's words: they
 * could tell what the result must not.
 */
export class ServerVoice {
  readonly requests: ServerRequests;
  readonly #options: VoiceOptions;
  readonly #subscribed = new BoundedSet(mostSubscribed);
  #isJudged = false;
  /** The run of what the client asked for last. */
  runId = '';

  constructor(options: VoiceOptions) {
    this.#options = options;
    this.requests = new ServerRequests(options.governor, options.toServer);
  }

  /** Whether nothing besides tools is judged, so that messages may pass several at once. */
  get isFree(): boolean {
    return !this.#isJudged && !this.requests.areGoverned;
  }

  /** The same for messages of the server, which may concern what others have called. */
  get isOpen(): boolean {
    return this.isFree && !this.#options.hearsOthers;
  }

  /** A result of the session is judged from now on. */
  judge(request: PendingRequest): void {
    request.isJudged = true;
    this.#isJudged = true;
    this.#options.tasks.isJudged = true;
  }

  /** The client has got an answer, so what it asked to hear of it may hear. */
  answered(request: PendingRequest, answer: Message): void {
    const { method, params } = request;
    const uri = isObject(params) ? params['uri'] : undefined;
    const result = isObject(answer.value) ? answer.value['result'] : undefined;
    if (result === undefined) return;
    if (method === 'resources/subscribe' && typeof uri === 'string') this.#subscribed.add(uri);
    if (method === 'resources/unsubscribe' && typeof uri === 'string') this.#subscribed.delete(uri);
    const task = isObject(result) && isObject(result['task']) ? result['task'] : result;
    const taskId = isObject(task) ? task['taskId'] : undefined;
    if (request.isJudged !== true && taskId !== undefined) this.#options.tasks.free(keyOf(taskId));
  }

  /** Why a request of the client does not pass: it would fetch the result of a call without anybody to judge it. */
  objectionTo({ method, params }: Request): string | undefined {
    if (!method.startsWith('tasks/')) return undefined;
    const isFree = this.#options.tasks.isFree(keyOf(isObject(params) ? params['taskId'] : undefined));
    return isFree ? undefined : 'results are judged here, and nobody judges those of tasks';
  }

  async said(message: Message, from: Exchange | undefined, mark: Mark | undefined): Promise<void> {
    const { pending, unrelated } = this.#options;
    const { method, params } = asNotification(message) ?? { method: '', params: {} };
    const isProgress = method === 'notifications/progress';
    const concerned = isProgress
      ? pending.withToken(params['progressToken'])
      : pending.get(metaOf(params)[subscriptionKey]);
    if (method === 'notifications/cancelled') this.requests.cancel(params['requestId']);
    const isRequest = asRequest(message) !== undefined;
    const front = () => from ?? concerned?.exchange ?? unrelated(isRequest);
    if (this.requests.isGoverned(message)) {
      const exchange = () => (from?.left.aborted === true ? unrelated(true) : front());
      const person = front()?.person ?? this.#options.person();
      return this.#options.calls.add(this.requests.govern(message, { exchange, person }, this.runId));
    }
    if (isRequest) this.requests.pass(message);
    const isQuiet = !isRequest && this.#isQuiet(isProgress, concerned, from);
    const passing = isQuiet ? this.#wordless(message, concerned) : message;
    if (passing !== undefined) await front()?.deliver(concerned?.relay?.(passing) ?? passing, mark);
    else if (mark !== undefined) await from?.mark(mark);
  }

  /**
   * Whether a notification must not have words: it may be of a call whose result is judged. Progress belongs to the request
   * whose token it names, whose result could say the same. Anything else could be about any call.
   */
  #isQuiet(isProgress: boolean, concerned: PendingRequest | undefined, from: Exchange | undefined): boolean {
    const isReport = isProgress && concerned !== undefined && concerned.method !== listening;
    if (isReport) return concerned.isJudged === true;
    if (this.#isJudged) return true;
    const { hearsOthers, pending, tasks } = this.#options;
    if (!hearsOthers) return false;
    const asked = from === undefined ? [] : pending.on(from);
    if (asked.some(({ method }) => method !== listening)) return false;
    return concerned === undefined || tasks.isJudged;
  }

  #wordless(message: Message, concerned: PendingRequest | undefined): Message | undefined {
    const isListened = (uri: string) => concerned?.method === listening && names(concerned.params, uri);
    const isSubscribed = (uri: string) => this.#subscribed.has(uri) || isListened(uri);
    const isAsked = (id: string | number) => this.requests.hasGiven(id);
    return wordless(message, { isConcerned: concerned !== undefined, isSubscribed, isAsked });
  }
}

/** Whether the client itself has written the text somewhere in what it asked for. */
function names(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null) return value === text;
  return Object.values(value).some((each) => names(each, text));
}
