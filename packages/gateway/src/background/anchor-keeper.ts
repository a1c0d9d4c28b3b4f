import type { Anchor } from '@reeve/contract/audit';
import { anchoredText } from '@reeve/contract/audit';
import type { Access, Clock, LostEntries } from '@reeve/core';
import { acceptLostEntries, timestamp } from '@reeve/core';
import type { Health } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Rounds } from './rounds.ts';

export interface AnchorPorts {
  readonly clock: Clock;
  readonly health: Health;
  readonly logger: Logger;
  /** A bare signature over a text. */
  readonly sign: (text: string, privateJwk: string) => string;
}

/** The file to append anchors to. */
export interface AnchorLog {
  readonly path: string;
  append(anchor: Anchor): Promise<void>;
}

/**
 * Appends the signed head of the log to the anchor file, regularly and at the end, if it has moved. A failed write is
 * reported and tried again; decisions do not wait for it.
 */
export class AnchorKeeper {
  readonly #file: AnchorLog;
  readonly #ports: AnchorPorts;
  readonly #lost: LostEntries | undefined;
  readonly #rounds = new Rounds((error) => this.#failed(error));
  #anchored: Pick<Anchor, 'seq' | 'hash'> | undefined;
  #access: Access | undefined;

  constructor(file: AnchorLog, newest: Anchor | undefined, lost: LostEntries | undefined, ports: AnchorPorts) {
    this.#file = file;
    this.#ports = ports;
    this.#lost = lost;
    this.#anchored = newest;
  }

  /** Records the loss before anything else goes into the log. */
  async recordLoss(access: Pick<Access, 'clock' | 'journal'>): Promise<void> {
    if (this.#lost === undefined) return;
    this.#ports.logger.warn({ ...this.#lost }, 'the audit log has lost entries, and that was accepted');
    await acceptLostEntries(access, this.#lost);
  }

  /** Anchors at once, and then regularly. */
  start(access: Access, everyMs: number): void {
    this.#access = access;
    this.#ports.health.ok('audit_anchor');
    const round = this.#rounds.of(() => this.#anchor(access));
    round();
    this.#rounds.every(everyMs, round);
  }

  /** Anchors what was written last. Call it once nothing is written any more. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
    if (this.#access !== undefined) await this.#anchor(this.#access).catch((error: unknown) => this.#failed(error));
  }

  async #anchor({ journal, signingKeys }: Access): Promise<void> {
    const { seq, hash } = journal.head;
    const key = signingKeys.current;
    const isKnown = this.#anchored?.seq === seq && this.#anchored.hash === hash;
    if (seq === 0 || isKnown || key === undefined) return;
    const unsigned = { seq, hash, at: timestamp(this.#ports.clock.now()), kid: key.kid };
    await this.#file.append({ ...unsigned, signature: this.#ports.sign(anchoredText(unsigned), key.privateJwk) });
    this.#anchored = { seq, hash };
    this.#ports.health.ok('audit_anchor');
  }

  #failed(error: unknown): void {
    const { health, logger } = this.#ports;
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    health.set('audit_anchor', { status: 'degraded', detail: `the anchor file cannot be written${code}` });
    logger.error(
      { err: error, file: this.#file.path },
      'the audit log is not anchored: the anchor file cannot be written. It is tried again; until then the loss of the newest entries would not show',
    );
  }
}
