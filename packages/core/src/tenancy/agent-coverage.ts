import type { Entrance, EpochMs } from '../kernel/index.ts';
import { entrances } from '../kernel/index.ts';

/** What agents ask for, as far as coverage tells it apart. */
const families = ['tools', 'model_calls'] as const;

export type Family = (typeof families)[number];

interface Use {
  readonly firstAt: EpochMs;
  readonly lastAt: EpochMs;
}

interface DoorUse extends Use {
  /** The servers, upstreams or hosts behind the door, the newest last. */
  readonly names: readonly string[];
}

/** By which doors the checks of an agent came, and what they asked for. Times are to the minute. */
export interface AgentUsage {
  readonly doors: Readonly<Partial<Record<Entrance, DoorUse>>>;
  readonly families: Readonly<Partial<Record<Family, Use>>>;
}

export const unused: AgentUsage = { doors: {}, families: {} };

/** How exactly the time of the last use is kept. */
const noteEveryMs = 60_000;
/** How many names are kept for each door. */
const mostNames = 16;

/** One check, as coverage sees it. */
interface SeenUse {
  readonly door: Entrance;
  readonly family: Family | null;
  /** Empty if nobody is named. */
  readonly name: string;
  readonly shownName: string;
}

/** What is known about how an agent uses the gateway. */
export class AgentCoverage {
  usage: AgentUsage;
  /** When the next use is noted: the slot of a door and family, its time, and so on. Nearly all agents have one or two. */
  readonly #due: number[] = [];
  /** The same by door and name; undefined if there was no name. */
  #nameDue: { [Door in Entrance]?: Map<string, number> } | undefined;

  constructor(usage: AgentUsage = unused) {
    this.usage = usage;
  }

  /** Whether a use is to be noted: not if the same was noted within the last minute. Every decision asks. */
  isDue(door: Entrance, family: Family | null, name: string, now: EpochMs): boolean {
    if (now >= (this.#due[this.#placeOf(slotOf(door, family)) + 1] ?? 0)) return true;
    return name !== '' && now >= (this.#nameDue?.[door]?.get(name) ?? 0);
  }

  /** Notes a use. Secrets in `shownName` are replaced. */
  note({ door, family, name, shownName }: SeenUse, now: EpochMs): void {
    const slot = slotOf(door, family);
    const place = this.#placeOf(slot);
    this.#due[place] = slot;
    this.#due[place + 1] = now + noteEveryMs;
    if (name !== '') this.#noteName(door, name, now);
    this.usage = joined(this.usage, usageOf(door, family, shownName, now));
  }

  /** Where a slot is, or would be added. */
  #placeOf(slot: number): number {
    let place = 0;
    while (place < this.#due.length && this.#due[place] !== slot) place += 2;
    return place;
  }

  #noteName(door: Entrance, name: string, now: EpochMs): void {
    const due = ((this.#nameDue ??= {})[door] ??= new Map());
    due.delete(name);
    due.set(name, now + noteEveryMs);
    if (due.size <= mostNames) return;
    const [oldest] = due.keys();
    if (oldest !== undefined) due.delete(oldest);
  }
}

const familiesAndOthers = families.length + 1;
const doorPlaces: Readonly<Record<Entrance, number>> = { sdk: 0, mcp: 1, model: 2, hook: 3 };
const familyPlaces: Readonly<Record<Family, number>> = { tools: 0, model_calls: 1 };

function slotOf(door: Entrance, family: Family | null): number {
  return doorPlaces[door] * familiesAndOthers + (family === null ? families.length : familyPlaces[family]);
}

function usageOf(door: Entrance, family: Family | null, name: string, at: EpochMs): AgentUsage {
  const use = { firstAt: at, lastAt: at };
  return {
    doors: { [door]: { ...use, names: name === '' ? [] : [name] } },
    families: family === null ? {} : { [family]: use },
  };
}

/** What two accounts of the same agent say together. They may come from two gateways. */
export function joined(one: AgentUsage, other: AgentUsage): AgentUsage {
  const doors: { -readonly [Door in Entrance]?: DoorUse } = { ...one.doors };
  for (const door of entrances) {
    const added = other.doors[door];
    if (added === undefined) continue;
    const known = doors[door];
    const names = [...new Set([...(known?.names ?? []), ...added.names])].slice(-mostNames);
    doors[door] = { ...joinedUse(known, added), names };
  }
  const seen: { -readonly [Each in Family]?: Use } = { ...one.families };
  for (const family of families) {
    const added = other.families[family];
    if (added !== undefined) seen[family] = joinedUse(seen[family], added);
  }
  return { doors, families: seen };
}

function joinedUse(known: Use | undefined, { firstAt, lastAt }: Use): Use {
  if (known === undefined) return { firstAt, lastAt };
  return { firstAt: Math.min(known.firstAt, firstAt), lastAt: Math.max(known.lastAt, lastAt) };
}

/** What an agent never asked for, though it asks for the rest: somebody should look how it does that. */
export function uncoveredBy({ families: seen }: AgentUsage): readonly Family[] {
  const isUsed = families.some((family) => seen[family] !== undefined);
  return isUsed ? families.filter((family) => seen[family] === undefined) : [];
}
