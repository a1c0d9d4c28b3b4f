import { flushCompileCache } from 'node:module';
import type { Gateway, StartOptions } from './wiring/start-gateway.ts';
import { startGateway } from './wiring/start-gateway.ts';
import type { ConfigSources } from './config/load-config.ts';
import { loadConfig } from './config/load-config.ts';
import type { Config } from './config/settings.ts';
import { explainStart } from './explain-start.ts';
import { exitAfterLinger, stopOrExit } from './last-resort.ts';
import { StartError } from './start-error.ts';
import { createLogger } from './telemetry/logger.ts';
import { warnOfRisks } from './startup/warn-of-risks.ts';

/** Hooks for a program that runs a gateway within its own process. */
export interface ServeHooks {
  /** Replaces the environment of the process. */
  readonly env?: ConfigSources['env'];
  /** Whether to start although the audit log has lost anchored entries. */
  readonly acceptLostEntries?: boolean;
  /** Whether the store was restored by other means than `reeve backup restore`. */
  readonly isRestored?: boolean;
  /** Replaces the message on standard output. */
  readonly onListening?: (place: Pick<Gateway, 'http' | 'grpc' | 'madeKey'>) => void;
  /** Runs before the gateway stops, so that its users can end first. */
  readonly onStopping?: () => Promise<void>;
}

/** Runs the gateway until it is told to stop, and returns the exit code. The caller decides what it serves at `/`. */
export async function serve(
  sources: Omit<ConfigSources, 'env'>,
  dashboard?: StartOptions['dashboard'],
  { env = process.env, acceptLostEntries, isRestored, onListening = announce, onStopping }: ServeHooks = {},
): Promise<number> {
  // Only the owner may read what the gateway writes: store, keys, lock.
  process.umask(0o077);
  const stopped = stopRequested();
  try {
    const { config, tracing } = loadConfig({ ...sources, env });
    const logger = await createLogger(config.logLevel);
    warnOfRisks(config, logger);
    const gateway = await startGateway(config, logger, tracing, {
      dashboard,
      acceptLostEntries,
      isRestored,
      stopRequested: stopped,
    }).catch((error: unknown) => {
      logger.debug({ err: error }, 'the start has failed');
      throw explainStart(error, config.databaseUrl === undefined ? config.dataDir : undefined);
    });
    if (gateway.madeKey === undefined && config.bootstrapApiKey === undefined) sayHowToGetKey(config, gateway);
    onListening(gateway);
    // Flush now, so that even a killed process leaves its compile cache to the next one.
    flushCompileCache();
    const end = await Promise.race([stopped, gateway.failed]);
    if (end instanceof Error) logger.fatal({ err: end }, 'the gateway cannot go on');
    else logger.info({ signal: end }, 'shutting down');
    await onStopping?.();
    await stopOrExit(gateway, config.drainSecs * 1000, logger);
    logger.info('stopped');
    exitAfterLinger(end instanceof Error ? 1 : 0, logger);
    if (end instanceof Error) throw new StartError(end.message);
    return 0;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`reeve serve: ${error.message}\n`);
    return error.exitCode;
  }
}

/** Prints the new key, if there is one; then one line of JSON for programs, or a few words for people. */
function announce({ http, grpc, madeKey }: Pick<Gateway, 'http' | 'grpc' | 'madeKey'>): void {
  if (madeKey !== undefined) process.stderr.write(`Admin API key, shown only this once: ${madeKey}\n`);
  if (process.stdout.isTTY) {
    process.stdout.write(
      `\n  Reeve is listening\n\n    HTTP  ${http}\n    gRPC  ${grpc}\n\n  Stop it with Ctrl-C.\n\n`,
    );
  } else {
    process.stdout.write(`${JSON.stringify({ event: 'listening', http, grpc })}\n`);
  }
}

/** Whoever starts a gateway on a store that has keys sees none, and may have none. */
function sayHowToGetKey({ databaseUrl, dataDir }: Config, { hasKeySocket }: Gateway): void {
  const how =
    databaseUrl === undefined
      ? `${hasKeySocket ? '' : 'stop the gateway and '}run: reeve keys bootstrap --data '${dataDir.replaceAll("'", `'\\''`)}'`
      : 'start a gateway with a new one in SVC_BOOTSTRAP_API_KEY';
  process.stderr.write(`An admin API key was made before. If it is lost, ${how}\n`);
}

/** A second signal of either kind ends the process at once. */
function stopRequested(): Promise<NodeJS.Signals> {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      for (const each of signals) process.off(each, stop);
      resolve(signal);
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
