import type { SealedEntry } from '@reeve/core';
import { Broken } from './broken.ts';
import type { Judge } from './judge.ts';
import { lineOf } from './judge.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { VirtualMember } from './virtual-log.ts';

/** Has each commit judged, and what became of the gateway that made it. */
export class LogWatch {
  /** Called with each entry, as it is written. */
  onWritten: ((line: string) => void) | undefined;
  readonly #judge: Judge;
  readonly #gateways: readonly VirtualGateway<VirtualMember>[];
  readonly #untold: { readonly by: VirtualMember; readonly untold: string }[] = [];

  constructor(judge: Judge, gateways: readonly VirtualGateway<VirtualMember>[]) {
    this.#judge = judge;
    this.#gateways = gateways;
  }

  /** `until`: when they are written, by any clock. */
  read(entries: readonly SealedEntry[], by: VirtualMember, until: number): void {
    const name = this.#gatewayOn(by)?.name ?? 'a gateway that has ended';
    if (this.onWritten !== undefined) for (const entry of entries) this.onWritten(`${name}, ${lineOf(entry)}`);
    this.#judge.read(entries, until);
    const { untold } = this.#judge.budgets;
    if (untold !== undefined) this.#untold.push({ by, untold });
  }

  /** A gateway that has nothing under way has told of the shares that its last commit used up. */
  requireTold(): void {
    for (const { by, untold } of this.#untold.splice(0)) {
      const gateway = this.#gatewayOn(by);
      if (gateway === undefined) continue;
      const [undurable] = gateway.gov.journal.undurable();
      if (undurable === undefined) throw new Broken(`${gateway.name}: ${untold}`);
    }
  }

  #gatewayOn(member: VirtualMember): VirtualGateway<VirtualMember> | undefined {
    return this.#gateways.find(({ ground }) => ground === member);
  }
}
