import type { Principal } from '@reeve/core';
import { ReeveError } from '@reeve/core';

export interface TenantSlotsOptions {
  /** How many of a tenant may go on at a time. */
  readonly slots: number;
  /** For how long others wait for one of them to end, in milliseconds. */
  readonly waitMs: number;
  /** How many may wait. */
  readonly waiting: number;
  /** What there are too many of, as those who are refused are told. */
  readonly what?: string;
  /** When those who are refused may try again. */
  readonly retryAfterSecs: number;
}

interface Tenant {
  taken: number;
  readonly waiting: (() => void)[];
}

/** Who shares a limit: an org with all its teams, as it makes keys for as many teams as it likes, or the operators. */
export function tenantOf({ orgId }: Pick<Principal, 'orgId'>): string {
  return orgId === null ? 'unbound' : `org:${orgId}`;
}

/**
 * Who shares what may wait to be read: an org with all its teams. Operators stand for themselves, so that one who only reads
 * keeps no other from the log.
 */
export function readerOf({ orgId, credentialId }: Pick<Principal, 'orgId' | 'credentialId'>): string {
  return orgId === null ? credentialId : tenantOf({ orgId });
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
    const { slots, retryAfterSecs, what = 'evaluations' } = this.#options;
    return new ReeveError('too_many_evaluations', `${slots} ${what} of this tenant are going on; try again`, {
      retry_after_secs: retryAfterSecs,
    });
  }
}
