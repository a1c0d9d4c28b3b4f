import { ReeveUnauthenticated } from './errors.ts';

export interface HeartbeatOptions {
  readonly intervalMs: number;
  readonly beat: () => Promise<unknown>;
  /** The gateway no longer accepts the token: it was replaced, or the agent was removed. */
  readonly onRevoked: (error: ReeveUnauthenticated) => void;
}

/**
 * Beats until stopped or refused, a little more often than asked and never in step with other agents. A lost beat is
 * not repeated, because the next one follows. The timer does not keep the process alive.
 */
export function startHeartbeat({ intervalMs, beat, onRevoked }: HeartbeatOptions): () => void {
  let stopped = false;
  let timer: NodeJS.Timeout;
  const schedule = () => {
    timer = setTimeout(() => void run(), intervalMs * (0.75 + Math.random() * 0.25));
    timer.unref();
  };
  const run = async () => {
    let refused: ReeveUnauthenticated | undefined;
    try {
      await beat();
    } catch (error) {
      if (error instanceof ReeveUnauthenticated) refused = error;
    }
    if (stopped) return;
    if (refused === undefined) return schedule();
    stopped = true;
    onRevoked(refused);
  };
  schedule();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
