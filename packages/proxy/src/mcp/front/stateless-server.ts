import { createHash, randomUUID } from 'node:crypto';
import type { ServerTokens } from '../auth/server-tokens.ts';
import type { Governor } from '../govern/governor.ts';
import type { JudgedTasks } from '../judged-tasks.ts';
import { reportChanges } from '../lock/report-changes.ts';
import { ToolCatalog } from '../lock/tool-catalog.ts';
import type { ToolHashes } from '../lock/tool-lock.ts';
import type { ServerSpec } from '../server-spec.ts';
import { connectTo, isCommand, noise } from '../server-spec.ts';
import { Session } from '../session.ts';
import type { SessionOptions } from '../session-options.ts';
import { SharedChild } from '../transport/shared-child.ts';
import type { Upstream, UpstreamEvents } from '../transport/upstream.ts';
import type { Caller } from './caller.ts';

/** One server for all exchanges of one caller that belong to no session. */
export class StatelessServer {
  readonly runId: string;
  /** Whose exchanges they are, with the token that was shown last. */
  caller: Caller;
  readonly governor: Governor;
  usedAt = Date.now();
  readonly #spec: ServerSpec;
  readonly #tokens: ServerTokens | undefined;
  readonly #tasks: JudgedTasks;
  readonly #catalog: ToolCatalog;
  #child: SharedChild | undefined;
  #lister: Session | undefined;
  #sessions = 0;

  constructor(
    spec: ServerSpec,
    caller: Caller,
    governor: Governor,
    lock: () => ToolHashes | undefined,
    tokens: ServerTokens | undefined,
    tasks: JudgedTasks,
  ) {
    // There is no session. A run that ended with this process, or with a pause, would end its labels, too.
    const fixed = createHash('sha256')
      .update(JSON.stringify([governor.server, caller.key]))
      .digest('hex')
      .slice(0, 32);
    this.runId = `mcp-${spec.hasFixedRun ? fixed : randomUUID()}`;
    this.#spec = spec;
    this.#tokens = tokens;
    this.#tasks = tasks;
    this.caller = caller;
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
    return this.#begin((envelope, person) => (cursor) => {
      this.#lister ??= this.#begin();
      return this.#lister.ask('tools/list', cursor === undefined ? {} : { cursor }, envelope, person);
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

  #begin(lister?: SessionOptions['lister']): Session {
    return new Session({
      connect: (events) => this.#connect(events),
      tokens: this.#tokens,
      governor: this.governor,
      catalog: this.#catalog,
      hearsOthers: true,
      tasks: this.#tasks,
      unrelated: () => undefined,
      onGone: (why) => this.governor.warn(why.message),
      ...(lister === undefined ? {} : { lister }),
    });
  }

  #connect(events: UpstreamEvents): Upstream {
    const spec = this.#spec;
    const { warn } = this.governor;
    if (!isCommand(spec)) return connectTo(spec, events, { opensStreams: false, warn, tokens: this.#tokens });
    if (this.#child === undefined || this.#child.gone !== undefined) {
      this.#child = new SharedChild(spec, () => warn(noise));
      this.#lister = undefined;
    }
    return this.#child.view(events);
  }
}
