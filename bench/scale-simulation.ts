// node bench/scale-simulation.ts: what one PostgreSQL carries, and how an installation is cut into cells. It simulates,
// and measures nothing; docs/scale.md says where the costs come from. The same seed gives the same tables.
import { boundedHashing, consistentHashing, fillNewCell, largestFirst } from './cell-simulation.ts';
import type { Place } from './cell-simulation.ts';
import { loadsOf, movedBetween, zipfSizes } from './cell-simulation.ts';
import type { ChainFigures, Costs, Mode } from './chain-simulation.ts';
import { simulateChain } from './chain-simulation.ts';
import type { LanesFigures, LanesRun } from './lanes-simulation.ts';
import { simulateLanes } from './lanes-simulation.ts';
import { count, duration, fixed, textTable } from './table.ts';

const seed = 14;

/** Microseconds, on the machines of docs/performance.md and ADR 0011. */
const costs: Costs = {
  decide: 110,
  seal: 150,
  sealEach: 8,
  follow: 100,
  followEach: 8,
  insert: 475,
  insertEach: 25,
  flush: 500,
  look: 100,
  roundTrip: 500,
  message: 300,
};

const names: Readonly<Record<Mode, string>> = {
  chain: 'one chain',
  'chain-following-early': 'one chain, following early',
  lanes: 'lanes, all follow all',
};

/** Lanes whose orgs are each at one gateway, and what they need beside their own commits. */
type LanesLoad = Pick<LanesRun, 'shareLasts' | 'denied' | 'commonRate'>;

const lanesLoads: readonly { readonly name: string; readonly load: LanesLoad }[] = [
  { name: 'lanes by org, nothing shared', load: { shareLasts: null, denied: 0, commonRate: 0 } },
  { name: 'a share lasts for 1,000', load: { shareLasts: 1000, denied: 0, commonRate: 1 } },
  { name: 'a share lasts for 100', load: { shareLasts: 100, denied: 0, commonRate: 1 } },
  { name: 'a share lasts for 10', load: { shareLasts: 10, denied: 0, commonRate: 1 } },
  { name: 'near the cap: for 1', load: { shareLasts: 1, denied: 0, commonRate: 1 } },
  { name: 'at the cap: 9 of 10 denied', load: { shareLasts: 1, denied: 0.9, commonRate: 1 } },
  { name: '10 common commits a second', load: { shareLasts: 1000, denied: 0, commonRate: 10 } },
  { name: '100 common commits a second', load: { shareLasts: 1000, denied: 0, commonRate: 100 } },
];

const lanesOfDatabase = 10_000;

function runLanes(load: LanesLoad, gateways: number, rate: number, roundTrip = costs.roundTrip): LanesFigures {
  const run = { lanes: lanesOfDatabase, costs: { ...costs, roundTrip }, seconds: 1, seed };
  return simulateLanes({ ...run, ...load, gateways, rate });
}

function run(mode: Mode, gateways: number, perGateway: number, roundTrip = costs.roundTrip): ChainFigures {
  return simulateChain({
    mode,
    gateways,
    ratePerGateway: perGateway,
    costs: { ...costs, roundTrip },
    seconds: 1,
    seed,
  });
}

function growth(sizes: readonly number[], rateOf: (gateways: number) => number): string {
  const rows = sizes.map((gateways) => {
    const perGateway = rateOf(gateways);
    const figures = run('chain', gateways, perGateway);
    return [
      String(gateways),
      count(gateways * perGateway),
      count(figures.answeredPerSecond),
      duration(figures.p50),
      duration(figures.p99),
      fixed(figures.decisionsPerCommit),
      count(figures.commitsPerSecond),
      percent(figures.overtaken),
      percent(figures.headHeld),
      percent(figures.busy),
    ];
  });
  const columns = [
    'asked/s',
    'answered/s',
    'p50',
    'p99',
    'per commit',
    'commits/s',
    'overtaken',
    'head held',
    'thread',
  ];
  return textTable(['gateways', ...columns], rows);
}

/** The most decisions per second of all gateways together that are answered, 99 of 100 within 100 ms. */
function most(highest: number, figuresAt: (rate: number) => Answered): number {
  let [low, high] = [0, highest];
  while (high - low > 200) {
    const middle = (low + high) / 2;
    const { answeredPerSecond, p99 } = figuresAt(middle);
    if (answeredPerSecond >= 0.95 * middle && p99 <= 100_000) low = middle;
    else high = middle;
  }
  return low;
}

type Answered = Pick<ChainFigures, 'answeredPerSecond' | 'p99'>;

/** No thread decides more than 9,000 a second. */
const mostOfThread = 9000;

function mostOf(roundTrip: number, loads: typeof lanesLoads): string {
  const sizes = [1, 2, 3, 4, 5, 8];
  const modes: readonly Mode[] = ['chain', 'chain-following-early', 'lanes'];
  const rows = modes.map((mode) => {
    const at = (gateways: number) =>
      most(Math.min(gateways * mostOfThread, 24_000), (rate) => run(mode, gateways, rate / gateways, roundTrip));
    return [names[mode], ...sizes.map((gateways) => count(at(gateways)))];
  });
  const byOrg = loads.map(({ name, load }) => {
    const at = (gateways: number) => most(gateways * mostOfThread, (rate) => runLanes(load, gateways, rate, roundTrip));
    return [name, ...sizes.map((gateways) => count(at(gateways)))];
  });
  return textTable(['gateways', ...sizes.map(String)], [...rows, null, ...byOrg]);
}

/** What lanes do at half of what their threads decide. */
function lanesAt(gateways: number): string {
  const rows = lanesLoads.map(({ name, load }) => {
    const figures = runLanes(load, gateways, (gateways * mostOfThread) / 2);
    return [
      name,
      count(figures.answeredPerSecond),
      duration(figures.p50),
      duration(figures.p99),
      count(figures.commitsPerSecond),
      count(figures.takesPerSecond),
      percent(figures.again),
      percent(figures.poolHeld),
      percent(figures.busy),
    ];
  });
  const columns = ['answered/s', 'p50', 'p99', 'commits/s', 'shares/s', 'again', 'free row held', 'thread'];
  return textTable(['lanes by org', ...columns], rows);
}

const agents = 10_000_000;
const orgs = 50_000;
const cells = 250;
/** One check for each agent every ten seconds, at 5,000 decisions a second for each cell. */
const mostAgents = 50_000;

const placements: readonly { readonly name: string; readonly place: Place }[] = [
  { name: 'largest first', place: largestFirst },
  { name: 'consistent hashing', place: consistentHashing },
  { name: 'bounded hashing', place: boundedHashing },
];

/** Orgs that are too large for a cell with others get cells of their own, and are not placed here. */
function placing(exponent: number): { readonly summary: string; readonly rows: string[][] } {
  const all = zipfSizes(orgs, agents, exponent);
  const giants = all.filter((size) => size > mostAgents);
  const sizes = all.slice(giants.length);
  const placed = sizes.reduce((sum, size) => sum + size, 0);
  const own = giants.reduce((sum, size) => sum + size, 0);
  // The rest gets as many cells as it needs at 80 % of what a cell carries.
  const shared = Math.min(cells, Math.ceil(placed / (0.8 * mostAgents)));
  const rows = placements.map(({ name, place }) => {
    const before = place(sizes, shared);
    const loads = [...loadsOf(sizes, before, shared)].sort((a, b) => b - a);
    const average = placed / shared;
    const again = movedBetween(sizes, before, place(sizes, shared + 1));
    const filled = movedBetween(sizes, before, fillNewCell(sizes, before, shared));
    return [
      `${exponent.toFixed(1)}, ${name}`,
      String(shared),
      count(average),
      `${fixed((loads[0] ?? 0) / average, 2)}×`,
      `${fixed((loads[Math.floor(shared * 0.1)] ?? 0) / average, 2)}×`,
      String(loads.filter((load) => load > mostAgents).length),
      `${count(again.orgs)} (${percent(again.agents / placed)})`,
      `${count(filled.orgs)} (${percent(filled.agents / placed)})`,
    ];
  });
  const largest = all[0] ?? 0;
  const summary = `exponent ${exponent.toFixed(1)}: the largest org has ${count(largest)} agents (${percent(largest / agents)}); ${giants.length} orgs are larger than a cell and have ${percent(own / agents)} of all agents`;
  return { summary, rows };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

const startedAt = performance.now();
console.log(`One chain, ${costs.roundTrip} µs to the database, 1,000 decisions/s asked of each gateway\n`);
console.log(growth([1, 2, 3, 4, 5, 6, 8, 10], () => 1000));
console.log('\nThe same, 5,000 decisions/s asked of all gateways together\n');
console.log(growth([1, 2, 3, 4, 5, 6], (gateways) => 5000 / gateways));
for (const [roundTrip, loads] of [
  [500, lanesLoads],
  [2000, lanesLoads.slice(0, 2)],
] as const) {
  console.log(`\nMost decisions/s of all gateways together, p99 within 100 ms, ${roundTrip} µs to the database\n`);
  console.log(mostOf(roundTrip, loads));
}
console.log(
  `\nLanes by org, 8 gateways, 36,000 decisions/s asked, ${count(lanesOfDatabase)} lanes, 500 µs to the database\n`,
);
console.log(lanesAt(8));
const places = [0.8, 1, 1.2].map(placing);
console.log(`\n${count(agents)} agents in ${count(orgs)} orgs; a cell carries ${count(mostAgents)} agents\n`);
console.log(places.map(({ summary }) => summary).join('\n'));
console.log('\nThe other orgs, on cells that are 80 % full on average\n');
const columns = ['cells', 'agents', 'fullest', 'top tenth', 'over', 'placed anew: orgs moved', 'filled: orgs moved'];
console.log(
  textTable(
    ['orgs by Zipf, placement', ...columns],
    places.flatMap(({ rows }) => rows),
  ),
);
console.error(`\ntook ${fixed((performance.now() - startedAt) / 1000)} s`);
