import type { PartState, TargetLag } from '../telemetry/health.ts';
import type { Forwarder } from './forwarder.ts';

/** A target and what brings the log to it. */
export interface Forwarded {
  readonly kind: 'otlp' | 'syslog' | 'https' | 'file';
  readonly forwarder: Pick<Forwarder, 'fault' | 'lagEntries' | 'lagSeconds' | 'removableThrough' | 'start' | 'stop'>;
}

/** From here on, a target that is behind needs attention. */
const lateSeconds = 60;

/** All targets of the audit log. */
export class Forwarding {
  readonly #targets: readonly Forwarded[];

  constructor(targets: readonly Forwarded[]) {
    this.#targets = targets;
  }

  /** By their place in the configuration. Everybody may see this, so it names no address. */
  get lags(): TargetLag[] {
    return this.#targets.map(({ kind, forwarder }, index) => ({
      target: index + 1,
      kind,
      lag_entries: forwarder.lagEntries,
      lag_seconds: Math.round(forwarder.lagSeconds * 10) / 10,
    }));
  }

  /** What readiness shows. A target never makes the gateway fail. */
  get state(): PartState {
    const faults = this.#targets.map(({ kind, forwarder: { fault, lagEntries, lagSeconds } }, index) => {
      if (fault === undefined && lagSeconds < lateSeconds) return '';
      const why = fault === undefined ? '' : ` (${fault})`;
      return `target ${index + 1} (${kind}) is ${lagEntries} entries and ${Math.round(lagSeconds)} s behind${why}`;
    });
    const detail = faults.filter((text) => text !== '').join('; ');
    return { status: detail === '' ? 'ok' : 'degraded', detail, targets: this.lags };
  }

  /** Retention may remove entries up to this one: every target has them, or has had its time. */
  get removableThrough(): number {
    return Math.min(...this.#targets.map(({ forwarder }) => forwarder.removableThrough));
  }

  start(): void {
    for (const { forwarder } of this.#targets) forwarder.start();
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.all(this.#targets.map(({ forwarder }) => forwarder.stop(graceMs)));
  }
}
