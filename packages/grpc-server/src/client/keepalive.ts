export interface KeepaliveOptions {
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  /** Whether anybody waits for the server. */
  readonly isBusy: () => boolean;
  readonly ping: () => void;
  readonly onDead: () => void;
}

/** Asks a server that says nothing whether it is there. Its timers keep no process alive. */
export class Keepalive {
  readonly #options: KeepaliveOptions;
  #heardAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KeepaliveOptions) {
    this.#options = options;
    this.#lookIn(options.keepaliveMs);
  }

  /** The server has sent something. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms);
    this.#timer.unref();
  }

  #look(): void {
    const { keepaliveMs, keepaliveTimeoutMs, isBusy, ping } = this.#options;
    const silentMs = performance.now() - this.#heardAt;
    if (!isBusy()) return this.#lookIn(keepaliveMs);
    if (silentMs < keepaliveMs) return this.#lookIn(keepaliveMs - silentMs);
    const pingedAt = performance.now();
    ping();
    this.#timer = setTimeout(() => this.#judge(pingedAt), keepaliveTimeoutMs);
    this.#timer.unref();
  }

  /** A process that was stopped for a while reads first what has come meanwhile. */
  #judge(pingedAt: number): void {
    setImmediate(() => {
      if (this.#timer === undefined) return;
      if (this.#heardAt >= pingedAt) this.#lookIn(this.#options.keepaliveMs);
      else this.#options.onDead();
    });
  }
}
