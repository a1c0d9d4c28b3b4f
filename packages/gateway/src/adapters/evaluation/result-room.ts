import { ReeveError } from '@reeve/core';

const mebibyte = 1024 * 1024;

/** How many bytes of results one tenant may have waiting to be judged, and all together. */
const [mostOfTenant, mostOfAll] = [64 * mebibyte, 256 * mebibyte];

/** Counts the bytes of results that wait to be judged, so that nobody fills the memory with them. */
export class ResultRoom {
  readonly #ofTenant = new Map<string, number>();
  #ofAll = 0;

  /** Keeps room for a result while it is judged. Throws if there is none. */
  async during<Result>(tenant: string, bytes: number, judge: () => Promise<Result>): Promise<Result> {
    const held = this.#ofTenant.get(tenant) ?? 0;
    if (held + bytes > mostOfTenant || this.#ofAll + bytes > mostOfAll) {
      throw new ReeveError('too_many_evaluations', 'too many large results wait to be judged; try again', {
        retry_after_secs: 1,
      });
    }
    this.#add(tenant, bytes);
    try {
      return await judge();
    } finally {
      this.#add(tenant, -bytes);
    }
  }

  #add(tenant: string, bytes: number): void {
    this.#ofAll += bytes;
    const held = (this.#ofTenant.get(tenant) ?? 0) + bytes;
    if (held === 0) this.#ofTenant.delete(tenant);
    else this.#ofTenant.set(tenant, held);
  }
}
