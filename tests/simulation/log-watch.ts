import type { SealedEntry } from '@reeve/core';
import { Broken } from './broken.ts';
import type { Judge, Written } from './judge.ts';
import { lineOf, readEntry } from './judged-entry.ts';
import { textOf } from './state-of.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { VirtualMember } from './virtual-log.ts';

/** Has each commit judged, and what became of the gateway that made it. */
export class LogWatch {
  /** Called with each entry and each change, as it is written. */
  onWritten: ((line: string) => void) | undefined;
  readonly #judge: Judge;
  readonly #gateways: readonly VirtualGateway<VirtualMember>[];
  readonly #untold: { readonly by: VirtualMember; readonly untold: string }[] = [];

  constructor(judge: Judge, gateways: readonly VirtualGateway<VirtualMember>[]) {
    this.#judge = judge;
    this.#gateways = gateways;
  }

  /** `until`: when they are written, by any clock. */
  read(written: Written, by: VirtualMember, until: number): void {
    const name = this.#gatewayOn(by)?.name ?? 'a gateway that has ended';
    if (this.onWritten !== undefined) {
      for (const entry of written.entries) this.onWritten(`${name}, ${lineOf(entry)}`);
      for (const change of written.changes) this.onWritten(`${name}, change ${textOf(change)}`);
    }
    for (const entry of written.entries) this.#requireInReach(entry, by);
    this.#judge.read(written, until);
    const { untold } = this.#judge.budgets;
    if (untold !== undefined) this.#untold.push({ by, untold });
  }

  /** A gateway decides nothing for those of whom it could not read everything, and lets nothing of them run. */
  #requireInReach(sealed: SealedEntry, { outOfReach, release }: VirtualMember): void {
    if (outOfReach.isNobody) return;
    const { seq, agent, decision, payload, eventType } = readEntry(sealed);
    if ((decision ?? 'deny') === 'deny' && payload.to !== 'running') return;
    const unread = [agent, ...this.#judge.delegations.above(agent).map(({ by }) => by)].find((each) =>
      outOfReach.has(each),
    );
    if (unread === undefined) return;
    throw new Broken(
      `entry ${seq}: ${eventType} of ${agent} at a ${release} release that could not read all of ${unread}`,
    );
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
