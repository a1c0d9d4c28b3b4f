/** A job that waits: for a tenant, which is an org, or for the operator and the gateway itself, which are null. */
export interface WaitingJob {
  readonly tenant: string | null;
}

/** So many tenants are remembered as served; who is forgotten only comes sooner. */
const mostServed = 1000;

/**
 * Jobs that wait for a thread. The operator's go first, so that no tenant keeps it from putting things right; then the
 * tenant that was served the longest ago, so that none keeps the others waiting by asking often.
 */
export class WaitingJobs<Job extends WaitingJob> {
  readonly #jobs = new Map<Job, NodeJS.Timeout | undefined>();
  readonly #served = new Map<string, number>();
  #count = 0;

  get size(): number {
    return this.#jobs.size;
  }

  /** A tenant's job that has waited for so long is taken out, and `giveUp` called. */
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

  /** All of them, in the order they came. */
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
