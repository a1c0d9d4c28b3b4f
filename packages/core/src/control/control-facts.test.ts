import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Width } from '../access/authority.ts';
import { applyFact } from '../facts.ts';
import type { Governance } from '../governance.ts';
import { restoring } from '../journal/meaning.ts';
import { agentKey } from '../kernel/ids.ts';
import type { Receipt } from '../ops/receipt.ts';
import { receiptStatuses } from '../ops/receipt.ts';
import { control, permissive, run } from '../testkit/controls.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { BulkControl } from './bulk-control.ts';
import type { ControlChange } from './control-slice.ts';
import type { Departure } from './departures.ts';
import type { RunControl } from './run-controls.ts';

const agents = ['acme/red/bot', 'acme/red/gone'].map(agentId);
const keys = ['k', 'l'];
const mostSequences = 8;
const someTime = fc.nat({ max: 1000 });
const someId = (prefix: string) => fc.nat({ max: 3 }).map((nth) => `${prefix}${nth}`);
const someAgent = fc.constantFrom(...agents);

const someReceipt: fc.Arbitrary<Receipt> = fc
  .record({
    agent: someAgent,
    opId: fc.constantFrom('running:s', 'paused:s', 'over:s', 'unknown:s'),
    action: fc.constantFrom('pause', 'resume', 'terminate'),
    cause: fc.constantFrom('operator', 'suspension'),
    width: fc.constantFrom<Width>('team', 'org', 'unbound'),
    owed: fc.boolean(),
    sequence: fc.integer({ min: 1, max: mostSequences }),
    status: fc.constantFrom(...receiptStatuses),
    waiting: fc.boolean(),
    blocks: fc.boolean(),
    floor: fc.boolean(),
    processes: fc.option(fc.nat()),
  })
  .map((members) => ({
    ...members,
    // An agent's messages are numbered: one number, one receipt.
    id: `ctl_${members.sequence}`,
    bulkId: null,
    actor: operator.actor,
    reason: '',
    requestedAt: 0,
    deliveredAt: null,
    ackedAt: null,
    effectiveAt: null,
    detail: '',
  }));

const someBulk: fc.Arbitrary<BulkControl> = fc
  .record({ id: someId('ctl_'), key: fc.constantFrom(...keys), requestedAt: someTime, done: fc.boolean() })
  .map(({ id, key, requestedAt, done }) => ({
    id,
    action: 'pause',
    scope: { all: true },
    reason: '',
    actor: operator.actor,
    orgId: null,
    teamId: null,
    requestedAt,
    matched: 1,
    changed: 1,
    skipped: 0,
    done,
    idempotency: { key, digest: 'same' },
  }));

const someRunControl: fc.Arbitrary<RunControl> = fc.record({
  runId: someId('run'),
  orgId: fc.constantFrom('acme', null),
  teamId: fc.constantFrom('red', null),
  agentId: fc.constantFrom('bot', null),
  action: fc.constantFrom('pause', 'terminate'),
  controlId: someId('ctl_'),
  actor: fc.constant(operator.actor),
  imposedBy: fc.constantFrom({ orgId: null, teamId: null }, { orgId: 'acme', teamId: null }),
  at: someTime,
  refusedAt: fc.option(someTime),
});

const someDeparture: fc.Arbitrary<Departure> = fc.record({
  orgId: fc.constantFrom('acme', 'umbrella'),
  teamId: fc.constantFrom('red', null),
  agentId: fc.constantFrom('bot', null),
  credentialId: someId('key'),
  at: someTime,
});

const someChange: fc.Arbitrary<ControlChange> = fc.oneof(
  { weight: 4, arbitrary: someReceipt.map((receipt) => ({ kind: 'receipt_saved' as const, receipt })) },
  fc
    .record({ agent: someAgent, sequence: fc.nat({ max: mostSequences }) })
    .map((sequence) => ({ kind: 'control_sequence_saved' as const, sequence })),
  someBulk.map((bulk) => ({ kind: 'bulk_control_saved' as const, bulk })),
  fc
    .tuple(fc.constantFrom('run_control_saved', 'run_control_used', 'run_control_removed'), someRunControl)
    .map(([kind, each]) => ({ kind, control: each })),
  fc
    .tuple(fc.constantFrom('departure_saved', 'departure_removed'), someDeparture)
    .map(([kind, departure]) => ({ kind, departure })),
  fc.record({ kind: fc.constant('receipts_removed'), before: someTime, most: fc.constant(1) }),
);

/** Everything that control facts change, as far as anybody can see it. */
function pictureOf({ control: registry, directory, ops }: Governance) {
  const text = (each: unknown) => JSON.stringify(each);
  return {
    outboxes: agents.map((id) => {
      const outbox = registry.find(agentKey(id));
      const queued = [...(outbox?.queued() ?? [])];
      return {
        lastSequence: outbox?.lastSequence,
        size: outbox?.size,
        queued: queued.map(({ message, receipt, released }) => ({ message, receipt, released })),
        overtaken: queued.filter((each) => outbox?.isOvertaken(each)).map(({ message }) => message.sequence),
        blocking: [...(outbox?.blocking.values() ?? [])].map(text).sort(),
        receipts: Array.from({ length: mostSequences }, (_, nth) => registry.receiptOf(id, nth + 1)),
        isBlocked: directory.find(id)?.blocked,
      };
    }),
    // All have the same due time here, so their order means nothing.
    due: [...registry.overdue(Number.NEGATIVE_INFINITY)].map(text).sort(),
    shown: [...directory.all()].flatMap((agent) => [...ops.of(agent)].map(({ opId, control: by }) => ({ opId, by }))),
    remembered: keys.map((key) => registry.remembered.known({ key, digest: 'same' }, 1000)),
    runs: [...registry.runs.all()].map(text).sort(),
    ofRuns: ['run0', 'run1', 'run2', 'run3'].map((runId) => registry.runs.ofRun(runId).map(text).sort()),
    isHeld: [null, 'bot'].map((name) => registry.runs.isHeld({ orgId: 'acme', teamId: 'red' }, name)),
    departures: [...registry.departures.of(null)].map(text).sort(),
    counts: keys.map((_, nth) => registry.departures.countOfOne({ orgId: 'acme', credentialId: `key${nth}` })),
  };
}

async function aGovernance() {
  const world = await permissive({ control: { ackMs: 0 } });
  const bot = await world.register(agentId('acme/red/bot'));
  await run(world, bot, 'running', 'paused', 'over');
  await control(world, bot, 'paused:s', 'pause');
  await control(world, bot, 'over:s', 'terminate');
  for (const id of agents) world.gov.control.outbox(id);
  return world;
}

test('whatever happens to controls, taken back it leaves everything as it was', async () => {
  const { gov } = await aGovernance();
  fc.assert(
    fc.property(fc.array(someChange, { maxLength: 12 }), (changes) =>
      expectInverses(gov, changes, () => pictureOf(gov)),
    ),
    { numRuns: 1000 },
  );
});

test('a fact that comes twice after a start, and once to another gateway, means the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someChange, { maxLength: 6 }), async (changes) => {
      const [restarted, following] = [await aGovernance(), await aGovernance()];
      for (const change of changes) {
        for (let times = 0; times < 2; times++) applyFact(restarted.gov, change, restoring);
        applyFact(following.gov, change, { isHere: false, seq: 9, onDurable: (effect) => effect() });
      }
      expect(pictureOf(restarted.gov)).toEqual(pictureOf(following.gov));
    }),
    { numRuns: 100 },
  );
});
