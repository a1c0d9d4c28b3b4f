import { Broken } from './broken.ts';
import type { Cluster, ClusterGateway } from './cluster.ts';
import type { Judge } from './judge.ts';
import { sha256 } from './random.ts';
import type { OutOfReach } from './releases.ts';
import type { Named } from './requirements.ts';
import { requireAlike } from './requirements.ts';
import { stateOf } from './state-of.ts';

/** Compares what gateways hold: with each other, and with what the log says. */
export class Comparison {
  compared = 0;
  /** A digest of the states on the way. */
  states = '';
  readonly #cluster: Cluster;
  readonly #judge: Judge;

  constructor(cluster: Cluster, judge: Judge) {
    this.#cluster = cluster;
    this.#judge = judge;
  }

  /** Gateways at the same place of the log are alike. */
  requireAllAlike(): void {
    const { gateways, log } = this.#cluster;
    const states = new Map<number, Picture>();
    for (const gateway of gateways) {
      if (!gateway.isUp || !this.#cluster.isIdle(gateway)) continue;
      const { version } = gateway.ground;
      if (version === log.version) this.#requireAsInLog(gateway);
      const picture = this.pictureOf(gateway);
      const other = states.get(version);
      if (other !== undefined) this.requireAlike(other, picture, version);
      // Others are compared with one that could read everything, if there is one.
      if (other === undefined || !other.outOfReach.isNobody) states.set(version, picture);
    }
    const [first] = states.values();
    if (first !== undefined) this.states = sha256(`${this.states}${[...first.state].join('\n')}`);
  }

  requireAlike(one: Picture, other: Picture, version: number): void {
    this.compared++;
    requireAlike(inReach(one, other), inReach(other, one), version);
  }

  pictureOf({ name, gov, ground: { outOfReach } }: ClusterGateway): Picture {
    return { name, state: stateOf(gov, this.#cluster.time.now), day: gov.ledger.windows.day.id, outOfReach };
  }

  #requireAsInLog({ gov, name, ground: { outOfReach } }: ClusterGateway): void {
    const { budgets } = this.#judge;
    budgets.requireReserved(gov.ledger.all(), name);
    budgets.requireSpent(gov.ledger, name);
    if (outOfReach.isNobody) this.#judge.requireKnown(gov, name);
    for (const { key, record } of gov.directory.all()) {
      if (gov.directory.outOfService.has(record.id) === outOfReach.has(key)) continue;
      throw new Broken(
        `${name} has ${key} ${outOfReach.has(key) ? 'in service, and could not read all of it' : 'out of service'}`,
      );
    }
  }
}

/** The state of a gateway, and whose state it could not read in full. */
interface Picture extends Named {
  readonly outOfReach: OutOfReach;
}

/** What belongs to agents, by the first word of its name. */
const ofAgents = /^(?:agent|operation|approval of|open approvals|sequence|message|delegation) ([^/]*\/[^/]*\/[^/ ]*)/;
/** What is counted for everybody, whoever is out of reach. */
const counted = /^(?:balance|rate) /;

/** What two gateways must agree on: everything that both could read. */
function inReach(one: Picture, other: Picture): Named {
  const unread = [one.outOfReach, other.outOfReach];
  if (unread.every(({ isNobody }) => isNobody)) return one;
  const isComparable = (name: string) => {
    const [, agent] = ofAgents.exec(name) ?? [];
    return agent === undefined ? counted.test(name) : !unread.some((each) => each.has(agent));
  };
  return { ...one, state: new Map([...one.state].filter(([name]) => isComparable(name))) };
}
