import type { EpochMs } from '../kernel/clock.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { BulkControl, ControlCounts } from './bulk-control.ts';

export interface ControlResult extends ControlCounts {
  /** Null where nothing was done, as it was only a question. */
  readonly controlId: string | null;
}

interface Remembered {
  readonly digest: string;
  readonly at: EpochMs;
  readonly result: Promise<ControlResult>;
}

const mostRemembered = 10_000;
const rememberedMs = 86_400_000;

/** What was asked for under which idempotency key, so that asking twice does not act twice. */
export class RememberedControls {
  readonly #byKey = new Map<string, Remembered>();

  /** The result under a key, also where it is still to come; another request under the same key is refused. */
  find(key: string, digest: string, now: EpochMs): Promise<ControlResult> | undefined {
    const known = this.#byKey.get(key);
    if (known === undefined || now - known.at > rememberedMs) return undefined;
    if (known.digest === digest) return known.result;
    throw new ReeveError(
      'idempotency_conflict',
      'this idempotency key was used for another request; use a new key for a new request',
    );
  }

  remember(key: string, digest: string, at: EpochMs, result: Promise<ControlResult>): void {
    this.#byKey.delete(key);
    this.#byKey.set(key, { digest, at, result });
    // What failed has to be asked for again.
    result.catch(() => this.#byKey.delete(key));
    if (this.#byKey.size <= mostRemembered) return;
    const [oldest] = this.#byKey.keys();
    if (oldest !== undefined) this.#byKey.delete(oldest);
  }

  restore(bulk: BulkControl): void {
    if (bulk.idempotency === null) return;
    const { key, digest } = bulk.idempotency;
    this.remember(key, digest, bulk.requestedAt, Promise.resolve(resultOf(bulk)));
  }
}

export function resultOf({ matched, changed, skipped, id }: BulkControl): ControlResult {
  return { matched, changed, skipped, controlId: id };
}
