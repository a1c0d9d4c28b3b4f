import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangedTool } from '@reeve/sdk';
import type { ArgumentNames } from '../protocol/argument-names.ts';
import { argumentNames } from '../protocol/argument-names.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { isObject } from '../protocol/written-json.ts';
import type { ParamHeader } from '../protocol/mcp-headers.ts';
import { paramHeadersOf } from '../protocol/mcp-headers.ts';
import { changedReason } from '../govern/answers.ts';
import type { ListedTool, ToolHashes } from './tool-lock.ts';
import { isTool, toolHash } from './tool-lock.ts';

/** Fetches a page of the server's tools. */
export type ListPage = (cursor: unknown) => Promise<JsonObject>;

/** Hashes of definitions, by the name of the tool. */
type Definitions = Map<string, Set<string>>;

interface KnownTool {
  readonly annotations: JsonObject | undefined;
  readonly headers: readonly ParamHeader[];
  /** Undefined if there are too many. */
  readonly names: ArgumentNames | undefined;
}

export interface CatalogOptions {
  /** The lock as it is at the moment. Without one, every tool counts as it is. */
  readonly lock: () => ToolHashes | undefined;
  /** Definitions are not as they were locked. */
  readonly onChanged: (changed: readonly ChangedTool[]) => void;
  readonly warn: (line: string) => void;
}

const mostTools = 10_000;
const mostPages = 200;
const mostText = 64 * 1024 * 1024;
/** A server that announces changes without end is not listed without end. */
const betweenListsMs = 250;
/** How long a call waits for a list. */
const patienceMs = 30_000;
const unlisted = 'the tools of the server could not be listed, so nobody knows whether they are as they were locked';

/** What is known of a server's tools, and whether they are as somebody locked them. */
export class ToolCatalog {
  readonly #options: CatalogOptions;
  readonly #known = new Map<string, KnownTool>();
  /** The hashes of all definitions that the server gave for a name, when it was last asked for all of them. */
  #actual: Definitions | undefined;
  /** The same of the last list that the client asked for with the name in it. The server may tell each another thing. */
  readonly #shown: Definitions = new Map();
  #listing: Promise<void> | undefined;
  #listAgain: (() => Promise<void>) | undefined;
  /** When the last list was asked for, and when the last one that came. */
  #askedAt = -Infinity;
  #knownFrom = -Infinity;
  /** When the server last said that its tools have changed. */
  #announcedAt = -Infinity;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  get isLocked(): boolean {
    return this.#options.lock() !== undefined;
  }

  /** Remembers what the server told its client of its tools. A change counts from now on. */
  learn(tools: readonly ListedTool[]): void {
    if (this.isLocked) {
      const names = new Set(tools.map(({ name }) => name));
      for (const name of names) this.#shown.delete(name);
      addHashes(this.#shown, tools);
      this.#report(names);
    }
    this.#remember(tools);
  }

  #remember(tools: readonly ListedTool[]): void {
    for (const tool of tools) {
      if (this.#known.size >= mostTools && !this.#known.has(tool.name)) return;
      const schema = tool['inputSchema'];
      const [annotations, headers] = [annotationsOf(tool), paramHeadersOf(schema)];
      // Read at the first call: many schemas at once would keep others waiting.
      const names = once(() => argumentNames(schema));
      this.#known.set(tool.name, {
        annotations,
        headers,
        get names() {
          return names();
        },
      });
    }
  }

  find(tool: string): KnownTool | undefined {
    return this.#known.get(tool);
  }

  /** Whether the tool may be listed. */
  isAsLocked(tool: ListedTool): boolean {
    const lock = this.#options.lock();
    return lock === undefined || (Object.hasOwn(lock, tool.name) && lock[tool.name] === toolHash(tool));
  }

  /** The tools may have changed. Compares all of them with the lock; calls wait until this is done. */
  refresh(list: ListPage): void {
    if (!this.isLocked) return;
    this.#announcedAt = performance.now();
    this.#shown.clear();
    this.#next(async () => {
      const waitMs = this.#askedAt + betweenListsMs - performance.now();
      if (waitMs > 0) await sleep(Math.min(waitMs, betweenListsMs), undefined, { ref: false });
      await this.#compare(list);
    });
  }

  /** As `refresh`, if nothing is known yet. */
  refreshIfUnknown(list: ListPage): void {
    if (this.#actual === undefined && this.#listing === undefined) this.refresh(list);
  }

  /**
   * Why the tool may not be called, or undefined. Not every server announces its changes, so the tools are listed anew for
   * each call: only a list that was asked for from now on counts. Calls that wait share one.
   */
  async refusal(tool: string, list: ListPage | undefined): Promise<string | undefined> {
    if (!this.isLocked) return undefined;
    const from = performance.now();
    const deadline = from + patienceMs;
    if (list !== undefined) this.#next(() => this.#compare(list));
    const isKnown = () => this.#actual !== undefined && this.#knownFrom >= Math.max(from, this.#announcedAt);
    while (!isKnown() && this.#listing !== undefined && performance.now() < deadline) {
      const patience = deadline - performance.now();
      await Promise.race([this.#listing, sleep(patience, undefined, { ref: false })]);
    }
    if (!isKnown()) return unlisted;
    return this.#report(new Set([tool])) ? changedReason : undefined;
  }

  /** Compares now, or once more after the comparison that is under way. */
  #next(compare: () => Promise<void>): void {
    if (this.#listing !== undefined) {
      this.#listAgain ??= compare;
      return;
    }
    this.#listing = compare().finally(() => {
      this.#listing = undefined;
      const again = this.#listAgain;
      this.#listAgain = undefined;
      if (again !== undefined) this.#next(again);
    });
  }

  /** Tells of those among the tools that are not as they were locked. True if there is one. */
  #report(tools: ReadonlySet<string>): boolean {
    const given = (tool: string) => [...(this.#actual?.get(tool) ?? []), ...(this.#shown.get(tool) ?? [])];
    const changed = changesOf(this.#options.lock() ?? {}, given, tools);
    if (changed.length > 0) this.#options.onChanged(changed);
    return changed.length > 0;
  }

  async #compare(list: ListPage): Promise<void> {
    const askedAt = performance.now();
    this.#askedAt = askedAt;
    try {
      const tools = await allTools(list);
      this.#knownFrom = askedAt;
      this.#actual = new Map();
      addHashes(this.#actual, tools);
      this.#remember(tools);
      this.#report(new Set(Object.keys(this.#options.lock() ?? {})));
    } catch (error) {
      this.#actual = undefined;
      this.#options.warn(
        `the tools of the server cannot be listed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

const mostAnnotations = 4096;
const hints = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']);

/** The annotations, as far as a check can hold them: where there are too many, only the hints of the protocol. */
function annotationsOf({ annotations }: ListedTool): JsonObject | undefined {
  if (!isObject(annotations)) return undefined;
  if (Buffer.byteLength(JSON.stringify(annotations)) <= mostAnnotations) return annotations;
  return Object.fromEntries(
    Object.entries(annotations).filter(([name, value]) => hints.has(name) && typeof value === 'boolean'),
  );
}

/** Every tool of a server, from all pages. */
export async function allTools(list: ListPage): Promise<ListedTool[]> {
  const tools: ListedTool[] = [];
  let cursor: unknown;
  let length = 0;
  for (let page = 0; page < mostPages; page++) {
    const { tools: listed, nextCursor } = await list(cursor);
    if (Array.isArray(listed)) tools.push(...listed.filter(isTool));
    length += JSON.stringify(listed ?? []).length;
    if (length > mostText) throw new Error('the tools of the server are described at too great a length');
    if (tools.length > mostTools) throw new Error(`the server has more than ${mostTools} tools`);
    if (typeof nextCursor !== 'string') return tools;
    cursor = nextCursor;
  }
  throw new Error(`the list of tools has more than ${mostPages} pages`);
}

const mostHashes = 10;

function addHashes(actual: Definitions, tools: readonly ListedTool[]): void {
  for (const tool of tools) {
    const known = actual.get(tool.name);
    if (known === undefined && actual.size < mostTools) actual.set(tool.name, new Set([toolHash(tool)]));
    else if (known !== undefined && known.size < mostHashes) known.add(toolHash(tool));
  }
}

/** Of several definitions under one name, one that differs counts. What neither side knows is not as it was locked either. */
function changesOf(
  lock: ToolHashes,
  given: (tool: string) => readonly string[],
  tools: ReadonlySet<string>,
): ChangedTool[] {
  return [...tools].flatMap((tool) => {
    const locked = Object.hasOwn(lock, tool) ? lock[tool] : undefined;
    const hashes = given(tool);
    const other = hashes.find((hash) => hash !== locked);
    return other === undefined && hashes.length > 0 ? [] : [{ tool, locked, actual: other }];
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
