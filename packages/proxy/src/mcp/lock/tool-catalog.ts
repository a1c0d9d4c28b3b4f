import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangedTool } from '@reeve/sdk';
import type { ArgumentNames } from '../protocol/argument-names.ts';
import { argumentNames } from '../protocol/argument-names.ts';
import type { JsonObject } from '../protocol/message.ts';
import { isObject } from '../protocol/message.ts';
import type { ParamHeader } from '../protocol/mcp-headers.ts';
import { paramHeadersOf } from '../protocol/mcp-headers.ts';
import { changedReason } from '../govern/answers.ts';
import type { ListedTool, ToolHashes } from './tool-lock.ts';
import { isTool, toolHash } from './tool-lock.ts';

/** Fetches a page of the server's tools. */
export type ListPage = (cursor: unknown) => Promise<JsonObject>;

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
/** How long a call waits for a list, and how long a list counts: not every server announces its changes. */
const patienceMs = 30_000;
const staleMs = 5000;

/** What is known of a server's tools, and whether they are as somebody locked them. */
export class ToolCatalog {
  readonly #options: CatalogOptions;
  readonly #known = new Map<string, KnownTool>();
  /** The hashes of all definitions that the server gave for a name, since it was last asked for all of them. */
  #actual: Map<string, Set<string>> | undefined;
  #listing: Promise<void> | undefined;
  #listAgain: ListPage | undefined;
  #listedAt = 0;
  #comparedAt = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  get isLocked(): boolean {
    return this.#options.lock() !== undefined;
  }

  /** Remembers what the server says of its tools, whoever asked for it. A change counts from now on. */
  learn(tools: readonly ListedTool[]): void {
    const actual = this.#actual;
    if (actual !== undefined && this.isLocked) {
      addHashes(actual, tools);
      this.#report(new Set(tools.map(({ name }) => name)));
    }
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

  /** Compares all tools of the server with the lock. Calls wait until this is done. */
  refresh(list: ListPage): void {
    if (!this.isLocked) return;
    if (this.#listing !== undefined) {
      this.#listAgain = list;
      return;
    }
    this.#listing = this.#compareInTime(list).finally(() => {
      this.#listing = undefined;
      const again = this.#listAgain;
      this.#listAgain = undefined;
      if (again !== undefined) this.refresh(again);
    });
  }

  /** As `refresh`, unless it was done just now. */
  refreshIfStale(list: ListPage): void {
    if (this.#listing === undefined && Date.now() - this.#listedAt > staleMs) this.refresh(list);
  }

  /** Why the tool may not be called, or undefined. */
  async refusal(tool: string): Promise<string | undefined> {
    if (!this.isLocked) return undefined;
    const deadline = Date.now() + patienceMs;
    while (this.#listing !== undefined && Date.now() < deadline) {
      await Promise.race([this.#listing, new Promise((resolve) => setTimeout(resolve, deadline - Date.now()).unref())]);
    }
    if (this.#actual === undefined || this.#listing !== undefined) {
      return 'the tools of the server could not be listed, so nobody knows whether they are as they were locked';
    }
    return this.#report(new Set([tool])) ? changedReason : undefined;
  }

  /** Tells of those among the tools that are not as they were locked. True if there is one. */
  #report(tools: ReadonlySet<string>): boolean {
    const changed = changesOf(this.#options.lock() ?? {}, this.#actual ?? new Map(), tools);
    if (changed.length > 0) this.#options.onChanged(changed);
    return changed.length > 0;
  }

  async #compareInTime(list: ListPage): Promise<void> {
    const waitMs = this.#comparedAt + betweenListsMs - Date.now();
    if (waitMs > 0) await sleep(Math.min(waitMs, betweenListsMs), undefined, { ref: false });
    this.#comparedAt = Date.now();
    await this.#compare(list);
  }

  async #compare(list: ListPage): Promise<void> {
    try {
      const tools = await allTools(list);
      this.#listedAt = Date.now();
      this.#actual = new Map();
      this.learn(tools);
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

function addHashes(actual: Map<string, Set<string>>, tools: readonly ListedTool[]): void {
  for (const tool of tools) {
    const known = actual.get(tool.name);
    if (known === undefined && actual.size < mostTools) actual.set(tool.name, new Set([toolHash(tool)]));
    else if (known !== undefined && known.size < mostHashes) known.add(toolHash(tool));
  }
}

/** Of several definitions under one name, one that differs counts. What neither side knows is not as it was locked either. */
function changesOf(
  lock: ToolHashes,
  actual: ReadonlyMap<string, ReadonlySet<string>>,
  tools: ReadonlySet<string>,
): ChangedTool[] {
  return [...tools].flatMap((tool) => {
    const locked = Object.hasOwn(lock, tool) ? lock[tool] : undefined;
    const hashes = [...(actual.get(tool) ?? [])];
    const other = hashes.find((hash) => hash !== locked);
    return other === undefined && hashes.length > 0 ? [] : [{ tool, locked, actual: other }];
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
