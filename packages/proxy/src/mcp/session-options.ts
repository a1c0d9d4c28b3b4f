import type { ServerTokens } from './auth/server-tokens.ts';
import type { Governor } from './govern/governor.ts';
import type { JudgedTasks } from './judged-tasks.ts';
import type { ListPage, ToolCatalog } from './lock/tool-catalog.ts';
import type { Person } from './person.ts';
import type { JsonObject } from './protocol/written-json.ts';
import type { Exchange } from './transport/exchange.ts';
import type { Upstream, UpstreamEvents, UpstreamGone } from './transport/upstream.ts';

export interface SessionOptions {
  readonly connect: (events: UpstreamEvents) => Upstream;
  /** Where the tokens for the server come from, if it wants any. */
  readonly tokens: ServerTokens | undefined;
  /** For whom the proxy asks before the client has said anything. */
  readonly person?: Person | undefined;
  readonly governor: Governor;
  readonly catalog: ToolCatalog;
  /** Where a message of the server goes that belongs to no exchange. */
  readonly unrelated: (isRequest: boolean) => Exchange | undefined;
  readonly onGone: (why: UpstreamGone) => void;
  /** Whether other processes share the session, so that not all it is told passes here. */
  readonly isShared?: boolean;
  /** Whether the server may say here what concerns calls of other sessions or processes. */
  readonly hearsOthers: boolean;
  /** What is known of the server's tasks. Other sessions of the same caller may be able to ask for them, too. */
  readonly tasks: JudgedTasks;
  /** Lists tools in place of this session, for one that lasts no longer than an exchange. */
  readonly lister?: (envelope: JsonObject | undefined, person: Person | undefined) => ListPage;
}
