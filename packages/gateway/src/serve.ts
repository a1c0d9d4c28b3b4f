import { startGateway } from './compose.ts';
import type { ConfigSources } from './config/load-config.ts';
import { loadConfig } from './config/load-config.ts';
import { StartError } from './start-error.ts';
import { createLogger } from './telemetry/logger.ts';

/** Runs the gateway until it is told to stop, and returns the exit code. */
export async function serve(sources: Omit<ConfigSources, 'env'>): Promise<number> {
  // What the gateway writes is its own: store, keys, lock.
  process.umask(0o077);
  const stopped = stopRequested();
  try {
    const { config, tracing, idle } = loadConfig({ ...sources, env: process.env });
    const logger = createLogger(config.logLevel);
    for (const variable of idle) logger.warn(`${variable} is set, but has no effect in this version`);
    const gateway = await startGateway(config, logger, tracing);
    if (gateway.madeKey !== undefined) {
      process.stderr.write(`Admin API key, shown only this once: ${gateway.madeKey}\n`);
    }
    announce(gateway.http, gateway.grpc);
    const end = await Promise.race([stopped, gateway.failed]);
    if (end instanceof Error) logger.fatal({ err: end }, 'the gateway cannot go on');
    else logger.info({ signal: end }, 'shutting down');
    await gateway.stop();
    logger.info('stopped');
    if (end instanceof Error) throw new StartError(end.message);
    return 0;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`reeve serve: ${error.message}\n`);
    return error.exitCode;
  }
}

/** One line of JSON for programs, a few words for people. */
function announce(http: string, grpc: string): void {
  if (process.stdout.isTTY) {
    process.stdout.write(
      `\n  Reeve is listening\n\n    HTTP  ${http}\n    gRPC  ${grpc}\n\n  Stop it with Ctrl-C.\n\n`,
    );
  } else {
    process.stdout.write(`${JSON.stringify({ event: 'listening', http, grpc })}\n`);
  }
}

/** A second signal, whichever it is, ends the process at once. */
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
