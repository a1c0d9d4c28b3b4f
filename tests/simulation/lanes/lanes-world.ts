import type { Random } from '../random.ts';
import type { CommonFact } from './lane-facts.ts';
import type { Request } from './lane-requests.ts';

const mostLanes = 6;
const agentsOfLane = 3;

/** Who is there to ask, and what they ask for. */
export class LanesWorld {
  readonly #random: Random;
  readonly #usualCap: number;
  #lanes = 0;
  #ops = 0;
  /** Operations that may still run, with what they reserved. */
  readonly #running: { readonly lane: number; readonly op: string; readonly amount: number }[] = [];
  /** Credentials are renewed when they are revoked. */
  readonly #renewals = new Map<string, number>();

  constructor(random: Random) {
    this.#random = random;
    this.#usualCap = 80 + random.int(170);
  }

  someCap(): number {
    return Math.floor(this.#usualCap * this.#random.pick([0.5, 0.8, 1, 1, 1.3]));
  }

  newLane(): number {
    return ++this.#lanes;
  }

  /** Also one that is not opened yet. */
  someLane(): number {
    return 1 + this.#random.int(this.#lanes + (this.#random.chance(0.02) ? 1 : 0));
  }

  someRequest(now: number, dayMs: number): Request {
    const random = this.#random;
    const lane = this.someLane();
    const kind = random.weighted(kinds).kind;
    const base = { lane, askedAt: now };
    const running = random.chance(0.9)
      ? this.#running.splice(random.int(this.#running.length), 1)[0]
      : this.#running.at(-1);
    if (kind === 'settle' && running !== undefined) {
      const amount = random.chance(0.25) ? running.amount + random.int(30) : random.int(running.amount + 1);
      return { ...base, lane: running.lane, kind, op: running.op, amount };
    }
    if (running !== undefined && kind !== 'settle') this.#running.push(running);
    if (kind === 'status' && running !== undefined) return { ...base, lane: running.lane, kind, op: running.op };
    if (kind === 'spent') return { ...base, kind, day: Math.floor(now / dayMs) };
    if (kind === 'org cap') return { ...base, kind, cap: 40 + random.int(80) };
    if (kind === 'housekeeping') return { ...base, kind };
    const agent = String(random.int(agentsOfLane));
    const amount = 1 + random.int(random.pick([4, 20]));
    return {
      ...base,
      kind: 'charge',
      op: `op-${++this.#ops}`,
      agent,
      credential: this.#credentialOf(lane, agent),
      amount,
    };
  }

  /** Something that concerns everybody. */
  someWord(): CommonFact {
    const random = this.#random;
    const kind = random.weighted(words).kind;
    if (kind === 'cap_set') return { kind, cap: this.someCap() };
    if (kind === 'everything_stopped') return { kind };
    if (kind === 'lane_opened' && this.#lanes < mostLanes) return { kind, lane: this.newLane() };
    const [lane, agent] = [this.someLane(), String(random.int(agentsOfLane))];
    const credential = this.#credentialOf(lane, agent);
    // Some go on to use it.
    if (random.chance(0.8)) {
      const key = `${lane}/${agent}`;
      this.#renewals.set(key, (this.#renewals.get(key) ?? 0) + 1);
    }
    return { kind: 'credential_revoked', credential };
  }

  heard(request: Request, answer: string): void {
    if (request.kind !== 'charge' || answer !== 'allowed') return;
    this.#running.push({ lane: request.lane, op: request.op, amount: request.amount });
    if (this.#running.length > 60) this.#running.shift();
  }

  #credentialOf(lane: number, agent: string): string {
    return `${lane}/${agent}/${this.#renewals.get(`${lane}/${agent}`) ?? 0}`;
  }
}

const kinds = [
  { kind: 'charge', weight: 50 },
  { kind: 'settle', weight: 30 },
  { kind: 'status', weight: 6 },
  { kind: 'spent', weight: 6 },
  { kind: 'org cap', weight: 1 },
  { kind: 'housekeeping', weight: 7 },
] as const;

const words = [
  { kind: 'cap_set', weight: 4 },
  { kind: 'credential_revoked', weight: 3 },
  { kind: 'everything_stopped', weight: 2 },
  { kind: 'lane_opened', weight: 1 },
] as const;
