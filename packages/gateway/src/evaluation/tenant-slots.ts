import type { Principal } from '@reeve/core';
import { ReeveError } from '@reeve/core';

export interface TenantSlotsOptions {
  /** How many of a tenant may go on at a time. */
  readonly slots: number;
  /** For how long others wait for one of them to end, in milliseconds. */
  readonly waitMs: number;
  /** How many may wait. */
  readonly waiting: number;
  /** When those who are refused may try again. */
  readonly retryAfterSecs: number;
}

interface Tenant {
  taken: number;
  readonly waiting: (() => void)[];
}

/** A tenant is what a credential is bound to: everything, an org, or a team. */
export function tenantOf({ orgId, teamId }: Pick<Principal, 'orgId' | 'teamId'>): string {
  return orgId === null ? 'unbound' : teamId === null ? `org:${orgId}` : `team:${orgId}/${teamId}`;
}

/** Lets each tenant do a few things at a time. What is one too many waits for a moment, and is then refused. */
export class TenantSlots {
  readonly #options: TenantSlotsOptions;
  readonly #tenants = new Map<string, Tenant>();

  constructor(options: TenantSlotsOptions) {
    this.#options = options;
  }

  async run<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    await this.take(tenant);
    try {
      return await work();
    } finally {
      this.give(tenant);
    }
  }

  /** Takes one of the tenant's places, which has to be given back. */
  async take(name: string): Promise<void> {
    const tenant = this.#tenants.get(name) ?? { taken: 0, waiting: [] };
    this.#tenants.set(name, tenant);
    if (tenant.taken < this.#options.slots) {
      tenant.taken++;
      return;
    }
    if (tenant.waiting.length >= this.#options.waiting || this.#options.waitMs === 0) throw this.#tooMany();
    await new Promise<void>((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        tenant.waiting.splice(tenant.waiting.indexOf(admit), 1);
        reject(this.#tooMany());
      }, this.#options.waitMs);
      tenant.waiting.push(admit);
    });
  }

  give(name: string): void {
    const tenant = this.#tenants.get(name);
    if (tenant === undefined) return;
    const next = tenant.waiting.shift();
    if (next !== undefined) return next();
    tenant.taken--;
    if (tenant.taken === 0) this.#tenants.delete(name);
  }

  #tooMany(): ReeveError {
    const { slots, retryAfterSecs } = this.#options;
    return new ReeveError('too_many_evaluations', `${slots} evaluations of this tenant are going on; try again`, {
      retry_after_secs: retryAfterSecs,
    });
  }
}
