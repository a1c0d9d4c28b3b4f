import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { ServerAccess } from './auth/server-tokens.ts';
import type { Governor } from './govern/governor.ts';
import { governorOf } from './govern/governor.ts';
import type { GovernOptions } from './govern/governor.ts';
import { JudgedTasks } from './judged-tasks.ts';
import { reportChanges } from './lock/report-changes.ts';
import { ToolCatalog } from './lock/tool-catalog.ts';
import type { ToolHashes } from './lock/tool-lock.ts';
import { errorMessage, longestMessage, parseMessage } from './protocol/message.ts';
import type { ServerSpec } from './server-spec.ts';
import { connectTo } from './server-spec.ts';
import { Session } from './session.ts';
import { LineSplitter } from './transport/line-splitter.ts';
import { StdioExchange } from './transport/stdio-exchange.ts';
import type { Upstream, UpstreamGone } from './transport/upstream.ts';

export interface RunMcpOptions extends GovernOptions {
  readonly name: string;
  readonly spec: ServerSpec;
  readonly agent: Governor['agent'];
  readonly lock: () => ToolHashes | undefined;
  readonly runId: string | undefined;
  readonly access: ServerAccess;
  readonly input: Readable;
  readonly output: Writable;
  /** Fires when the process is told to stop. Its reason is the name of the signal. */
  readonly stop: AbortSignal;
}

/** An MCP server on standard input and output, in front of another one. Returns the exit code. */
export async function runMcp(options: RunMcpOptions): Promise<number> {
  const { name, spec, agent, lock, input, stop, warn } = options;
  const { tokens, person } = options.access;
  const runId = options.runId ?? `mcp-${randomUUID()}`;
  const governor = governorOf(name, spec, agent, options);
  const exchange = new StdioExchange(options.output, person);
  const catalog = new ToolCatalog({ lock, warn, onChanged: (changed) => void reportChanges(governor, changed) });
  const gone = Promise.withResolvers<UpstreamGone>();
  let upstream: Upstream | undefined;
  const session = new Session({
    connect: (events) => (upstream = connectTo(spec, events, { opensStreams: true, warn, tokens })),
    tokens,
    governor,
    catalog,
    hearsOthers: false,
    tasks: new JudgedTasks(),
    unrelated: () => exchange,
    onGone: gone.resolve,
  });
  const read = readAll(input, exchange, (line) => takeLine(line, session, exchange, runId));
  const end = await Promise.race([read, gone.promise, fired(stop, 'stopped'), fired(exchange.left, 'left')]);
  exchange.leave();
  input.destroy();
  if (end === 'stopped') upstream?.kill?.(signalOf(stop.reason));
  await session.close();
  if (typeof end === 'string') return 0;
  warn(end.message);
  return end.orderly ? 0 : 1;
}

function fired<Name>(signal: AbortSignal, name: Name): Promise<Name> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(name);
    signal.addEventListener('abort', () => resolve(name), { once: true });
  });
}

async function readAll(
  input: Readable,
  exchange: StdioExchange,
  take: (line: string | undefined) => Promise<void>,
): Promise<'ended'> {
  const lines = new LineSplitter(longestMessage);
  try {
    for await (const chunk of input) {
      for (const line of lines.push(Buffer.from(chunk as Buffer))) await take(line);
      if (exchange.left.aborted) break;
    }
  } catch {
    // The client is gone.
  }
  return 'ended';
}

async function takeLine(
  line: string | undefined,
  session: Session,
  exchange: StdioExchange,
  runId: string,
): Promise<void> {
  if (line === '') return;
  const message = line === undefined ? undefined : parseMessage(line);
  if (message !== undefined) await session.fromClient(message, exchange, runId);
  else if (line === undefined) {
    await exchange.deliver(errorMessage(null, -32_600, `a message has more than ${longestMessage} bytes`));
  } else await exchange.deliver(errorMessage(null, -32_700, 'the line is no JSON object'));
}

function signalOf(reason: unknown): NodeJS.Signals {
  return reason === 'SIGINT' || reason === 'SIGHUP' ? reason : 'SIGTERM';
}
