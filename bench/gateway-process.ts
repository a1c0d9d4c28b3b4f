import { once } from 'node:events';
import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { probeEnv } from './ask-probe.ts';
import { trackFolder } from './children.ts';
import { commandFromSources, installedCommand } from './command.ts';
import { bootstrapKey } from './load-protocol.ts';
import type { ServerProcess } from './server-process.ts';
import { startServer } from './server-process.ts';

/** A small policy as an operator would write it: denied tools, allowed tools, and a default. */
export const basePolicy = `
name: base
default: deny
rules:
  - name: no-shell
    effect: deny
    tools: ["shell.*", "terminal"]
  - name: no-metadata-service
    effect: deny
    hosts: ["169.254.169.254", "*.internal"]
  - name: research
    effect: allow
    actions: [tool_call]
    tools: ["search.*", "docs.read", "calendar.read"]
  - name: models
    effect: allow
    actions: [llm_call]
    models: ["gpt-*", "claude-*"]
`;

export interface GatewayOptions {
  readonly core: number | undefined;
  /** Policy files besides the base, by name. */
  readonly policies?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Loads the probe into the gateway, for figures that only the process itself has. */
  readonly probe?: boolean;
  /** Starts the sources of the checkout, not what people install. */
  readonly fromSources?: boolean;
  /** The data folder of an earlier gateway, which stays. Without it, the gateway gets a new one until it stops. */
  readonly folder?: string;
}

export interface GatewayProcess extends ServerProcess {
  readonly folder: string;
  count(table: 'audit' | 'ops'): number;
  /** Bytes of the database and of its write-ahead log. */
  disk(): { readonly database: number; readonly wal: number };
  /** Ends the process as a crash would. The folder stays. */
  kill(): Promise<void>;
}

/** A temporary data folder with the policies, and how to remove it. */
export function makeDataFolder(policies: GatewayOptions['policies'] = {}): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-'));
  const remove = trackFolder(folder);
  mkdirSync(join(folder, 'policies'));
  for (const [name, text] of Object.entries({ 'base.yaml': basePolicy, ...policies })) {
    writeFileSync(join(folder, 'policies', name), text);
  }
  return { folder, remove };
}

/** Starts the real `reeve serve`, as people install it, on a data folder, with the default settings and those of `env`. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const made = options.folder === undefined ? makeDataFolder(options.policies) : undefined;
  const folder = made?.folder ?? options.folder ?? '';
  const reeve = options.fromSources === true ? commandFromSources : installedCommand();
  const server = await startServer(
    options.core,
    [reeve, 'serve', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', folder],
    {
      SVC_BOOTSTRAP_API_KEY: bootstrapKey,
      // One key registers all agents of a fleet.
      SVC_RATE_LIMIT_API_PER_MIN: '0',
      SVC_MAX_AGENTS_PER_ORG: '1000000',
      ...(options.probe === true ? probeEnv : {}),
      ...options.env,
    },
  );
  const database = join(folder, 'reeve.db');
  return {
    ...server,
    folder,
    count: (table) => countRows(database, table),
    disk: () => ({ database: sizeOf(database), wal: sizeOf(`${database}-wal`) }),
    kill: async () => {
      const ended = once(server.child, 'exit');
      server.child.kill('SIGKILL');
      await ended;
    },
    stop: async () => {
      await server.stop();
      made?.remove();
    },
  };
}

function countRows(path: string, table: 'audit' | 'ops'): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const sql = table === 'audit' ? 'SELECT max(seq) AS n FROM audit' : 'SELECT count(*) AS n FROM ops';
    return Number(db.prepare(sql).get()?.['n'] ?? 0);
  } finally {
    db.close();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
