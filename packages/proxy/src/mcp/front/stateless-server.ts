import { randomUUID } from 'node:crypto';
import type { Agent } from '@reeve/sdk';
import type { Governor } from '../govern/governor.ts';
import { reportChanges } from '../lock/report-changes.ts';
import { ToolCatalog } from '../lock/tool-catalog.ts';
import type { ToolHashes } from '../lock/tool-lock.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import type { ServerSpec } from '../server-spec.ts';
import { connectTo, isCommand, noise } from '../server-spec.ts';
import { Session } from '../session.ts';
import { SharedChild } from '../transport/shared-child.ts';
import type { Upstream, UpstreamEvents } from '../transport/upstream.ts';

/** One server for all exchanges of one agent that belong to no session. */
export class StatelessServer {
  readonly runId = `mcp-${randomUUID()}`;
  readonly agent: Agent;
  readonly governor: Governor;
  usedAt = Date.now();
  readonly #spec: ServerSpec;
  readonly #catalog: ToolCatalog;
  #child: SharedChild | undefined;
  #lister: Session | undefined;
  #sessions = 0;

  constructor(spec: ServerSpec, agent: Agent, governor: Governor, lock: () => ToolHashes | undefined) {
    this.#spec = spec;
    this.agent = agent;
    this.governor = governor;
    const onChanged = (changed: Parameters<typeof reportChanges>[1]) => void reportChanges(governor, changed);
    this.#catalog = new ToolCatalog({ lock, warn: governor.warn, onChanged });
  }

  get isBusy(): boolean {
    return this.#sessions > 0;
  }

  /** A session for one exchange. */
  session(): Session {
    this.usedAt = Date.now();
    this.#sessions++;
    return this.#begin((envelope) => (cursor) => {
      this.#lister ??= this.#begin();
      return this.#lister.ask('tools/list', cursor === undefined ? {} : { cursor }, envelope);
    });
  }

  async ended(session: Session): Promise<void> {
    this.usedAt = Date.now();
    this.#sessions--;
    await session.close();
  }

  async close(): Promise<void> {
    await this.#child?.close();
  }

  #begin(lister?: (envelope: JsonObject | undefined) => (cursor: unknown) => Promise<JsonObject>): Session {
    return new Session({
      connect: (events) => this.#connect(events),
      governor: this.governor,
      catalog: this.#catalog,
      unrelated: () => undefined,
      onGone: (why) => this.governor.warn(why.message),
      ...(lister === undefined ? {} : { lister }),
    });
  }

  #connect(events: UpstreamEvents): Upstream {
    const spec = this.#spec;
    const { warn } = this.governor;
    if (!isCommand(spec)) return connectTo(spec, events, { opensStreams: false, warn });
    if (this.#child === undefined || this.#child.gone !== undefined) {
      this.#child = new SharedChild(spec, () => warn(noise));
      this.#lister = undefined;
    }
    return this.#child.view(events);
  }
}
