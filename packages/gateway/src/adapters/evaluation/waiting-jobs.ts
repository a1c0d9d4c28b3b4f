/** A waiting job. Its tenant is an org, or null for the operator and the gateway itself. */
export interface WaitingJob {
  readonly tenant: string | null;
}

/** How many served tenants are remembered. A forgotten tenant only gets its turn sooner. */
const mostServed = 1000;

/**
 * Jobs that wait for a thread. The operator's go first, so that no tenant keeps it from repairing things. Then comes
 * the tenant served longest ago, so that no tenant delays the others by asking often.
 */
export class WaitingJobs<Job extends WaitingJob> {
  readonly #jobs = new Map<Job, NodeJS.Timeout | undefined>();
  readonly #served = new Map<string, number>();
  #count = 0;

  get size(): number {
    return this.#jobs.size;
  }

  /** Removes a tenant's job after `waitMs`, and calls `giveUp`. */
  add(job: Job, waitMs: number, giveUp: () => void): void {
    const expire = () => {
      this.#jobs.delete(job);
      giveUp();
    };
    this.#jobs.set(job, job.tenant === null ? undefined : setTimeout(expire, waitMs));
  }

  take(): Job | undefined {
    let next: Job | undefined;
    for (const job of this.#jobs.keys()) {
      if (next === undefined || this.#turnOf(job) < this.#turnOf(next)) next = job;
    }
    if (next === undefined) return undefined;
    this.#remove(next);
    if (this.#served.size >= mostServed) this.#served.clear();
    if (next.tenant !== null) this.#served.set(next.tenant, ++this.#count);
    return next;
  }

  /** All jobs, in the order of arrival. */
  takeAll(): Job[] {
    const jobs = [...this.#jobs.keys()];
    for (const job of jobs) this.#remove(job);
    return jobs;
  }

  #turnOf({ tenant }: Job): number {
    return tenant === null ? -1 : (this.#served.get(tenant) ?? 0);
  }

  #remove(job: Job): void {
    clearTimeout(this.#jobs.get(job));
    this.#jobs.delete(job);
  }
}
