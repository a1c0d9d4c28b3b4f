import { setTimeout as sleep } from 'node:timers/promises';
import type { Change } from '@reeve/core';
import type { Notice, NoticeKind } from './notices.ts';
import type { Shared, SharedReader } from './shared-rows.ts';
import { sharedKinds } from './shared-rows.ts';

type Key = readonly string[];

/** The state in memory before rows were read. */
interface Before {
  /** Rows may lack changes that were not durable then, even if these are durable by the time the rows arrive. */
  readonly pending: readonly Change[];
  readonly versions: Map<string, { readonly key: Key; readonly version: unknown }>;
}

const retryMs = 250;

/**
 * Keeps agents, keys and policies in memory in step with the other gateways on the database. A notice names a changed
 * row, and the row itself is read, so notices may come late, twice or in any order. A row that this gateway is changing
 * is read only once its own change is durable.
 */
export class Follower {
  readonly #onError: (error: unknown) => void;
  readonly #changed = new Map<NoticeKind, Map<string, Key>>();
  #all = false;
  #followed: { readonly store: SharedReader; readonly access: Shared } | undefined;
  #isRunning = false;
  #isClosed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Before this call, notices are only collected. */
  start(store: SharedReader, access: Shared): void {
    this.#followed = { store, access };
    this.#run();
  }

  note(notice: Pick<Notice, 'kind' | 'keys'>): void {
    const changed = this.#changed.get(notice.kind) ?? new Map<string, Key>();
    for (const key of notice.keys) changed.set(JSON.stringify(key), key);
    this.#changed.set(notice.kind, changed);
    this.#run();
  }

  /** Reads all rows, because notices may have been missed. */
  noteAll(): void {
    this.#all = true;
    this.#run();
  }

  close(): void {
    this.#isClosed = true;
  }

  #run(): void {
    if (this.#isRunning || this.#followed === undefined) return;
    const { store, access } = this.#followed;
    void this.#catchUp(store, access);
  }

  async #catchUp(store: SharedReader, access: Shared): Promise<void> {
    this.#isRunning = true;
    let isFailing = false;
    while (!this.#isClosed && (this.#all || this.#changed.size > 0)) {
      const changed = [...this.#changed];
      const all = this.#all;
      this.#changed.clear();
      this.#all = false;
      try {
        if (all) await this.#followAll(store, access);
        else for (const [kind, keys] of changed) await this.#follow(store, access, kind, [...keys.values()]);
        isFailing = false;
      } catch (error) {
        // Report each outage once, when it starts.
        if (!isFailing) this.#onError(error);
        isFailing = true;
        for (const [kind, keys] of changed) this.note({ kind, keys: [...keys.values()] });
        this.#all ||= all;
        await sleep(retryMs, undefined, { ref: false });
      }
    }
    // In the same tick as the last check: any later notice starts another run.
    this.#isRunning = false;
  }

  async #follow(store: SharedReader, access: Shared, kind: NoticeKind, keys: readonly Key[]): Promise<void> {
    const { keyOf, read } = sharedKinds[kind];
    const before = standing(access, kind, keys);
    const rows = await read(store, keys);
    await this.#apply(access, kind, before, new Map(rows.map((row) => [JSON.stringify(keyOf(row)), row])));
  }

  async #followAll(store: SharedReader, access: Shared): Promise<void> {
    const kinds = Object.keys(sharedKinds) as NoticeKind[];
    const stood = kinds.map((kind) => [kind, standing(access, kind, sharedKinds[kind].known(access))] as const);
    const shared = await store.shared();
    for (const [kind, before] of stood) {
      const { all, keyOf } = sharedKinds[kind];
      const rows = new Map(all(shared).map((row) => [JSON.stringify(keyOf(row)), row]));
      const { versions } = before;
      for (const row of rows.values()) {
        const key = keyOf(row);
        if (!versions.has(JSON.stringify(key))) versions.set(JSON.stringify(key), { key, version: undefined });
      }
      await this.#apply(access, kind, before, rows);
    }
  }

  async #apply(access: Shared, kind: NoticeKind, before: Before, rows: ReadonlyMap<string, unknown>): Promise<void> {
    const { version, isAbout, follow } = sharedKinds[kind];
    const { journal } = access;
    for (const [name, { key, version: known }] of before.versions) {
      const concerns = (change: Change) => isAbout(change, key);
      const isOurs = before.pending.some(concerns) || journal.isPending(concerns);
      if (isOurs || version(access, key) !== known) {
        await journal.committed().catch(() => undefined);
        this.note({ kind, keys: [key] });
      } else {
        await follow(access, key, rows.get(name));
      }
    }
  }
}

function standing(access: Shared, kind: NoticeKind, keys: readonly Key[]): Before {
  const { version } = sharedKinds[kind];
  return {
    pending: access.journal.pending(),
    versions: new Map(keys.map((key) => [JSON.stringify(key), { key, version: version(access, key) }])),
  };
}
