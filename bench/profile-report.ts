import type { ServerProfile, ShapeProfile } from './profile.ts';
import { fixed, textTable } from './table.ts';

/** What the threads beside the main one do, by Node's names for them. */
const threadNames: Readonly<Record<string, string>> = {
  V8Worker: 'threads of V8: collector and compiler',
  WorkerThread: 'threads of the gateway: checkpoints and the like',
};
const functionsShown = 40;

export function profileTables(profiles: readonly ShapeProfile[]): string {
  return profiles.map(profileTable).join('\n\n\n');
}

function profileTable({ shape, gateway, echo }: ShapeProfile): string {
  const [ours, theirs] = [byOwner(gateway), byOwner(echo)];
  const all = total(ours);
  const rows = [...new Set([...ours.keys(), ...theirs.keys()])]
    .map((owner) => ({ owner, ours: ours.get(owner) ?? 0, theirs: theirs.get(owner) ?? 0 }))
    .sort((a, b) => b.ours - b.theirs - (a.ours - a.theirs))
    .map((row) => [row.owner, ...micros(row.ours, all), fixed(row.theirs, 2), signed(row.ours - row.theirs)]);
  const functions = gateway.functions
    .slice(0, functionsShown)
    .map((each) => [`${each.name} ${each.place}`, ...micros(each.microsPerDecision, all), each.owner]);
  return [
    `${shape}: CPU µs per decision, gateway ${fixed(all)}, bare echo ${fixed(total(theirs))}`,
    textTable(['whose', 'gateway', 'share', 'echo', 'more'], rows),
    '',
    textTable(['self time in the gateway', 'µs', 'share', 'whose'], functions),
  ].join('\n');
}

function byOwner({ functions, otherThreads }: ServerProfile): Map<string, number> {
  const owners = new Map<string, number>();
  const add = (owner: string, value: number) => owners.set(owner, (owners.get(owner) ?? 0) + value);
  for (const { owner, microsPerDecision } of functions) add(owner, microsPerDecision);
  for (const [name, value] of Object.entries(otherThreads))
    add(threadNames[name] ?? 'other threads, the sampling among them', value);
  return owners;
}

function total(owners: ReadonlyMap<string, number>): number {
  return [...owners.values()].reduce((sum, value) => sum + value, 0);
}

function micros(value: number, all: number): [string, string] {
  return [fixed(value, 2), `${fixed((value / all) * 100)} %`];
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${fixed(value, 2)}`;
}
