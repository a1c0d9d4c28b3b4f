import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '@reeve/core';
import type { Notice, NoticeKind } from './notices.ts';
import type { SharedReader } from './shared-rows.ts';
import { sharedKinds } from './shared-rows.ts';

type Key = readonly string[];

const retryMs = 250;

/**
 * Keeps agents and keys in memory as the gateways on the same database have made them. A notice says which row has
 * changed, and the row itself is read: so notices may come late, twice or in any order. What this gateway is changing
 * itself at that moment is left alone until that is durable, and then read.
 */
export class Follower {
  readonly #onError: (error: unknown) => void;
  readonly #changed = new Map<NoticeKind, Map<string, Key>>();
  #all = false;
  #followed: { readonly store: SharedReader; readonly access: Access } | undefined;
  #isRunning = false;
  #isClosed = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Until this, notices are only noted. */
  start(store: SharedReader, access: Access): void {
    this.#followed = { store, access };
    this.#run();
  }

  note(notice: Pick<Notice, 'kind' | 'keys'>): void {
    const changed = this.#changed.get(notice.kind) ?? new Map<string, Key>();
    for (const key of notice.keys) changed.set(JSON.stringify(key), key);
    this.#changed.set(notice.kind, changed);
    this.#run();
  }

  /** Notices may have been missed. */
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

  async #catchUp(store: SharedReader, access: Access): Promise<void> {
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
        // Once for each time that it starts to fail.
        if (!isFailing) this.#onError(error);
        isFailing = true;
        for (const [kind, keys] of changed) this.note({ kind, keys: [...keys.values()] });
        this.#all ||= all;
        await sleep(retryMs, undefined, { ref: false });
      }
    }
    // In the same breath as the last look: whatever is noted from here on starts another run.
    this.#isRunning = false;
  }

  async #follow(store: SharedReader, access: Access, kind: NoticeKind, keys: readonly Key[]): Promise<void> {
    const { keyOf, read } = sharedKinds[kind];
    const versions = this.#versions(access, kind, keys);
    const rows = await read(store, keys);
    await this.#apply(access, kind, versions, new Map(rows.map((row) => [JSON.stringify(keyOf(row)), row])));
  }

  async #followAll(store: SharedReader, access: Access): Promise<void> {
    const kinds = Object.keys(sharedKinds) as NoticeKind[];
    const before = kinds.map((kind) => this.#versions(access, kind, sharedKinds[kind].known(access)));
    const shared = await store.shared();
    for (const [index, kind] of kinds.entries()) {
      const { all, keyOf } = sharedKinds[kind];
      const rows = new Map(all(shared).map((row) => [JSON.stringify(keyOf(row)), row]));
      const versions = before[index] ?? new Map();
      for (const row of rows.values()) {
        const key = keyOf(row);
        if (!versions.has(JSON.stringify(key))) versions.set(JSON.stringify(key), { key, version: undefined });
      }
      await this.#apply(access, kind, versions, rows);
    }
  }

  #versions(access: Access, kind: NoticeKind, keys: readonly Key[]): Map<string, { key: Key; version: unknown }> {
    const { version } = sharedKinds[kind];
    return new Map(keys.map((key) => [JSON.stringify(key), { key, version: version(access, key) }]));
  }

  async #apply(
    access: Access,
    kind: NoticeKind,
    versions: ReadonlyMap<string, { readonly key: Key; readonly version: unknown }>,
    rows: ReadonlyMap<string, unknown>,
  ): Promise<void> {
    const { version, isAbout, follow } = sharedKinds[kind];
    const { journal } = access.gov;
    for (const [name, before] of versions) {
      const { key } = before;
      if (journal.isPending((change) => isAbout(change, key)) || version(access, key) !== before.version) {
        await journal.committed().catch(() => undefined);
        this.note({ kind, keys: [key] });
      } else {
        await follow(access, key, rows.get(name));
      }
    }
  }
}
