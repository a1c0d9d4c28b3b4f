/** A part that readiness depends on. */
export type Part =
  | 'store'
  | 'records'
  | 'policy'
  | 'audit_anchor'
  | 'audit_log'
  | 'nats'
  | 'forward'
  | 'subjects'
  | 'workloads';

export interface PartState {
  readonly status: 'ok' | 'degraded' | 'failing';
  readonly detail: string;
  /** How far each target of the audit log is behind. */
  readonly targets?: TargetLag[];
}

/** A target by its place in the configuration, and how far it is behind the log. */
export interface TargetLag {
  readonly target: number;
  readonly kind: 'otlp' | 'syslog' | 'https' | 'file';
  readonly lag_entries: number;
  readonly lag_seconds: number;
}

export type Watcher = (serving: boolean) => void;

const fine: PartState = { status: 'ok', detail: '' };

/** The gateway's own health. */
export class Health {
  readonly #parts = new Map<Part, PartState>([
    ['store', fine],
    ['policy', fine],
  ]);
  readonly #watchers = new Set<Watcher>();
  readonly #onDrain = new Set<() => void>();
  #draining = false;

  get parts(): ReadonlyMap<Part, PartState> {
    return this.#parts;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Whether calls can be answered. A failing part stops that, a degraded one does not. */
  get serving(): boolean {
    return !this.#draining && [...this.#parts.values()].every((part) => part.status !== 'failing');
  }

  get status(): 'ok' | 'degraded' | 'failing' {
    if (!this.serving) return 'failing';
    return [...this.#parts.values()].some((part) => part.status === 'degraded') ? 'degraded' : 'ok';
  }

  set(part: Part, state: PartState): void {
    this.#change(() => this.#parts.set(part, state));
  }

  ok(part: Part): void {
    if (this.#parts.get(part) !== fine) this.set(part, fine);
  }

  drain(): void {
    this.#change(() => {
      this.#draining = true;
    });
    for (const act of this.#onDrain) act();
  }

  /** Calls `act` when the gateway shuts down, for example to end a stream that would stay open. */
  onDrain(act: () => void): () => void {
    this.#onDrain.add(act);
    return () => this.#onDrain.delete(act);
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #change(change: () => void): void {
    const before = this.serving;
    change();
    if (this.serving !== before) for (const watcher of this.#watchers) watcher(this.serving);
  }
}
