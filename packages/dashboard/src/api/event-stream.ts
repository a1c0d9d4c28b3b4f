import { encodeRequest } from '@reeve/contract/encode-request';
import type { EventType, ReeveEvent, StreamMessage } from '@reeve/contract/events';
import { callRoute } from './call.ts';
import { Observable } from './observable.ts';
import { session } from './session.ts';

export interface Connection {
  /** `idle`: nobody listens. `offline`: several attempts have failed. */
  readonly state: 'idle' | 'connecting' | 'live' | 'reconnecting' | 'offline';
  /** The start of this state, in milliseconds. */
  readonly since: number;
}

export interface Subscriber {
  readonly types: readonly EventType[];
  /** Events in order, batched by moment. */
  readonly onEvents: (events: readonly ReeveEvent[]) => void;
}

const closedForCredential = 4401;
const readTooSlowly = 1013;
const batchMs = 40;
/** After this much silence the page asks whether the gateway is still there. */
const silenceMs = 30_000;
const triesBeforeOffline = 3;

/**
 * The one event stream of this tab. It resumes where it was. If it cannot (the first time, or after a gap), `onResync`
 * says that loaded data may be out of date.
 */
export class EventStream {
  readonly connection = new Observable<Connection>({ state: 'idle', since: Date.now() });
  readonly #subscribers = new Set<Subscriber>();
  readonly #resyncs = new Set<() => void>();
  #cursor: number | undefined;
  #socket: WebSocket | undefined;
  #attempt = 0;
  /** Counts connection attempts. The outcome of an earlier attempt is ignored. */
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #batch: ReeveEvent[] = [];
  #heardAt = 0;
  #watch: ReturnType<typeof setInterval> | undefined;

  /** Runs until `stop`, with or without subscribers, because the shell shows the state. */
  start(): void {
    if (this.connection.value.state !== 'idle') return;
    this.#become('connecting');
    addEventListener('online', this.#retryNow);
    document.addEventListener('visibilitychange', this.#retryNow);
    this.#watch = setInterval(() => void this.#ensureHeard(), silenceMs / 2);
    void this.#connect();
  }

  stop(): void {
    removeEventListener('online', this.#retryNow);
    document.removeEventListener('visibilitychange', this.#retryNow);
    clearInterval(this.#watch);
    clearTimeout(this.#timer);
    this.#drop();
    this.#cursor = undefined;
    this.#attempt = 0;
    this.#batch = [];
    this.#become('idle');
  }

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  onResync(listener: () => void): () => void {
    this.#resyncs.add(listener);
    return () => this.#resyncs.delete(listener);
  }

  /** Resolves when events arrive, or when a longer wait would keep the page from showing what it has. */
  ready(patienceMs = 1500): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.connection.value.state === 'live') finish();
      };
      const unsubscribe = this.connection.subscribe(check);
      const timer = setTimeout(() => finish(), patienceMs);
      const finish = () => {
        clearTimeout(timer);
        unsubscribe();
        resolve();
      };
      check();
    });
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#timer);
    this.#drop();
    const turn = this.#turn;
    try {
      const { ticket } = await callRoute('wsTicket', {}, { signal: AbortSignal.timeout(10_000) });
      if (this.#turn !== turn) return;
      const query = { ticket, since: this.#cursor?.toString() };
      const socket = new WebSocket(encodeRequest('eventSocket', { query }).path);
      this.#socket = socket;
      socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
        if (this.#socket === socket) this.#receive(JSON.parse(data) as StreamMessage);
      });
      socket.addEventListener('close', ({ code }) => {
        if (this.#socket === socket) void this.#closed(code);
      });
    } catch {
      if (this.#turn === turn) this.#again();
    }
  }

  #receive(message: StreamMessage): void {
    this.#heardAt = Date.now();
    if (message.event_type === 'hello') {
      const isResumed = this.#cursor !== undefined;
      this.#cursor ??= message.cursor;
      this.#attempt = 0;
      this.#become('live');
      if (!isResumed) this.#resync();
    } else if (message.event_type === 'gap') {
      this.#resync();
    } else {
      this.#cursor = message.id;
      this.#batch.push(message);
      if (this.#batch.length === 1) setTimeout(() => this.#flush(), batchMs);
    }
  }

  #flush(): void {
    const events = this.#batch;
    this.#batch = [];
    for (const { types, onEvents } of [...this.#subscribers]) {
      const wanted = events.filter(({ event_type }) => types.includes(event_type));
      if (wanted.length > 0) onEvents(wanted);
    }
  }

  #resync(): void {
    for (const listener of [...this.#resyncs]) listener();
  }

  async #closed(code: number): Promise<void> {
    this.#socket = undefined;
    if (code !== readTooSlowly && code !== closedForCredential) {
      this.#again();
      return;
    }
    this.#become('reconnecting');
    // A refused credential may have just expired. If the session is over, all of this stops.
    if (code === closedForCredential) await session.refresh().catch(() => undefined);
    if (this.connection.value.state !== 'idle') void this.#connect();
  }

  #again(): void {
    if (this.connection.value.state === 'idle') return;
    this.#attempt += 1;
    this.#become(this.#attempt > triesBeforeOffline || !navigator.onLine ? 'offline' : 'reconnecting');
    const longest = Math.min(15_000, 500 * 2 ** (this.#attempt - 1));
    clearTimeout(this.#timer);
    // Spreads reconnects, so that not all dashboards return at the same moment.
    this.#timer = setTimeout(() => void this.#connect(), longest * (0.5 + Math.random() / 2));
  }

  readonly #retryNow = (): void => {
    const { state } = this.connection.value;
    const isWaiting = state === 'reconnecting' || state === 'offline';
    if (isWaiting && document.visibilityState === 'visible' && this.#socket === undefined) void this.#connect();
  };

  /** A connection can be gone without either side knowing. */
  async #ensureHeard(): Promise<void> {
    const socket = this.#socket;
    if (this.connection.value.state !== 'live' || Date.now() - this.#heardAt < silenceMs) return;
    try {
      await fetch(encodeRequest('healthz', {}).path, { signal: AbortSignal.timeout(5000), cache: 'no-store' });
      this.#heardAt = Date.now();
    } catch {
      if (socket !== undefined && this.#socket === socket) {
        this.#drop();
        this.#again();
      }
    }
  }

  #drop(): void {
    this.#turn += 1;
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  /** The outage counts from the loss, not from the last attempt. */
  #become(state: Connection['state']): void {
    const { state: before, since } = this.connection.value;
    if (state === before) return;
    const isStillAway = before !== 'live' && before !== 'idle' && state !== 'live' && state !== 'idle';
    this.connection.set({ state, since: isStillAway ? since : Date.now() });
  }
}

export const eventStream = new EventStream();
