import type { Principal } from '@reeve/core';
import { ReeveError } from '@reeve/core';

export interface TenantSlotsOptions {
  /** How many calls of a tenant may run at a time. */
  readonly slots: number;
  /** How long others wait for one of them to end, in milliseconds. */
  readonly waitMs: number;
  /** How many calls may wait. */
  readonly waiting: number;
  /** What there are too many of, for the message of a refusal. */
  readonly what?: string;
  /** When a refused caller may try again. */
  readonly retryAfterSecs: number;
}

interface Tenant {
  taken: number;
  readonly waiting: (() => void)[];
}

/**
 * Who shares a limit: an org with all its teams, because it can make keys for any number of teams, or the operators.
 */
export function tenantOf({ orgId }: Pick<Principal, 'orgId'>): string {
  return orgId === null ? 'unbound' : `org:${orgId}`;
}

/**
 * Who shares a limit of unread answers: an org with all its teams. Each operator counts alone, so that one who only
 * reads keeps no other from the log.
 */
export function readerOf({ orgId, credentialId }: Pick<Principal, 'orgId' | 'credentialId'>): string {
  return orgId === null ? credentialId : tenantOf({ orgId });
}

/** The same for an agent. */
export function readerOfAgent(id: { readonly orgId: string } | undefined): string {
  return tenantOf({ orgId: id?.orgId ?? '' });
}

/** Lets each tenant do a few things at a time. A call beyond that waits for a moment, and is then refused. */
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

  /** Takes one of the tenant's slots. The caller must give it back. */
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
    const { slots, retryAfterSecs, what = 'evaluations' } = this.#options;
    return new ReeveError('too_many_evaluations', `${slots} ${what} of this tenant are going on; try again`, {
      retry_after_secs: retryAfterSecs,
    });
  }
}
