import { subscriptionKey, wordlessParams } from './mcp-wordless.ts';

type Members = Readonly<Record<string, unknown>>;
type Send = (message: Members, ...rest: unknown[]) => Promise<void>;
type Take = (message: Members, ...rest: unknown[]) => void;

/** The part of a transport of an MCP client that is watched. */
interface Transport {
  send: Send;
  onmessage?: Take | undefined;
}

const most = 10_000;
const notJudged = 'results are judged here, and nobody judges those of tasks';

/**
 * The connection of a governed MCP client. Once a result is judged, notifications of the server reach the client without
 * the server's words, and tasks cannot be asked for that a judged call may have begun: whoever sends the request. Until then,
 * everything passes as it is.
 */
export class McpConnection {
  #isJudged = false;
  readonly #tasks = new Set<string>();
  readonly #subscribed = new Set<string>();
  /** The ids of requests of the server, as JSON. */
  readonly #asked = new Set<string>();
  readonly #ours = new WeakSet<object>();

  /** A result is judged from now on. */
  judge(): void {
    this.#isJudged = true;
  }

  /** A call has begun a task, and nobody judges its result. */
  free(taskId: unknown): void {
    keep(this.#tasks, JSON.stringify(taskId));
  }

  /** Watches the transport. To do so again changes nothing, unless the client has put its own functions there since. */
  watch(value: unknown): void {
    if (typeof value !== 'object' || value === null || !('send' in value)) return;
    const transport = value as Transport;
    const { onmessage, send } = transport;
    if (onmessage !== undefined && !this.#ours.has(onmessage)) {
      transport.onmessage = this.#own((message, ...rest) => {
        const passing = this.#heard(message);
        if (passing !== undefined) onmessage.call(transport, passing, ...rest);
      });
    }
    if (this.#ours.has(send)) return;
    transport.send = this.#own(async (message, ...rest) => {
      if (!this.#isRefused(message)) return send.call(transport, message, ...rest);
      const error = { code: -32_001, message: `Denied by policy: ${notJudged}` };
      queueMicrotask(() => transport.onmessage?.({ jsonrpc: '2.0', id: message['id'], error }));
    });
  }

  #own<Own extends Send | Take>(made: Own): Own {
    this.#ours.add(made);
    return made;
  }

  #isRefused({ method, params }: Members): boolean {
    const { uri, taskId } = membersOf(params);
    if (method === 'resources/subscribe' && typeof uri === 'string') keep(this.#subscribed, uri);
    if (method === 'resources/unsubscribe' && typeof uri === 'string') this.#subscribed.delete(uri);
    const isTask = typeof method === 'string' && method.startsWith('tasks/');
    return isTask && this.#isJudged && !this.#tasks.has(JSON.stringify(taskId));
  }

  /** What the client may hear of a message. */
  #heard(message: Members): Members | undefined {
    const { method, id } = message;
    const isId = typeof id === 'string' || typeof id === 'number';
    if (typeof method === 'string' && isId) keep(this.#asked, JSON.stringify(id));
    if (!this.#isJudged || typeof method !== 'string' || id !== undefined) return message;
    const params = membersOf(message['params']);
    // The client numbers its requests. Another token or id would be a text that the server has chosen.
    const name =
      method === 'notifications/progress' ? params['progressToken'] : membersOf(params['_meta'])[subscriptionKey];
    const known = {
      isConcerned: typeof name === 'number',
      isSubscribed: (uri: string) => this.#subscribed.has(uri),
      isAsked: (asked: unknown) => this.#asked.has(JSON.stringify(asked)),
    };
    const wordless = wordlessParams(method, params, known);
    return wordless === undefined ? undefined : { jsonrpc: '2.0', method, params: wordless };
  }
}

function keep(set: Set<string>, text: string): void {
  set.delete(text);
  set.add(text);
  const [oldest] = set;
  if (oldest !== undefined && set.size > most) set.delete(oldest);
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}
