import { eventually } from '../harness/eventually.ts';
import type { Entry, Operator } from './operator.ts';
import type { Played, Stage } from './scene.ts';
import type { Case, ExpectedDecision, ExpectedEnd } from './table.ts';
import { filled } from './table.ts';

/** What came of a case. */
export interface Outcome {
  readonly played: Played;
  readonly stage: Stage;
  readonly operator: Operator;
  /** What the gateway has written so far, for people. */
  readonly output: () => string;
}

/** Compares a case with what came of it. Throws what differs. */
export async function holdAgainst(given: Case, outcome: Outcome): Promise<void> {
  const { expect, gateway } = given;
  const { stage, played, operator, output } = outcome;
  same('the tools that ran', stage.ran, expect.ran);
  await heldRead(given, outcome);
  heldFailures(given, played);
  if (expect.stopped !== undefined) heldStop(expect.stopped, expect.reason ?? '', outcome);
  else if (played.error !== undefined && expect.fails === undefined) throw played.error;
  if (gateway === 'away') return;
  const { decisions, ends, approvals, receipt, log_lacks: secrets } = expect;
  if (decisions !== undefined) same('the decisions', await decisionsOf(outcome, decisions), keyed(decisions));
  for (const [resource, end] of Object.entries(ends ?? {})) await eventually(() => heldEnd(operator, resource, end));
  for (const [tool, state] of Object.entries(approvals ?? {})) {
    await eventually(async () => same(`the approval of ${tool}`, (await operator.approval(tool)).state, state));
  }
  for (const [tool, status] of Object.entries(receipt ?? {})) {
    await eventually(async () => same(`the receipt of ${tool}`, (await operator.op(tool)).control?.status, status));
  }
  if (secrets === undefined) return;
  const texts = [JSON.stringify(await operator.log()), output()];
  for (const secret of secrets) if (texts.some((text) => text.includes(secret))) throw new Error('a log has a secret');
}

async function heldRead({ calls, expect }: Case, { played, operator }: Outcome): Promise<void> {
  for (const [tool, texts] of Object.entries(expect.reads ?? {})) {
    const read = played.reads.filter((_, index) => calls[index]?.tool === tool);
    for (const [index, text] of [texts].flat().entries()) {
      const values = {
        ...(text.includes('${reason}') ? { reason: await reasonOf(operator) } : {}),
        ...(text.includes('${approval}') ? { approval: (await operator.approval(tool)).id } : {}),
      };
      const wanted = filled(text, values);
      if (read[index]?.includes(wanted) !== true) {
        const error = played.error === undefined ? '' : `, and the run ended with ${textOf(played.error)}`;
        throw new Error(`the model reads ${JSON.stringify(read[index])} in place of "${wanted}"${error}`);
      }
    }
  }
}

/** A framework may let the model read the error of a tool, or end the run with it. */
function heldFailures({ calls, expect }: Case, { reads, error }: Played): void {
  const told = [...reads, ...(error === undefined ? [] : [textOf(error)])];
  for (const secret of expect.reads_lack ?? []) {
    if (told.some((text) => text.includes(secret))) throw new Error(`somebody reads "${secret}": ${told.join('; ')}`);
  }
  for (const [tool, text] of Object.entries(expect.fails ?? {})) {
    const read = reads.filter((_, index) => calls[index]?.tool === tool);
    if (![...read, ...told.slice(reads.length)].some((each) => each.includes(text))) {
      throw new Error(`nobody reads "${text}": ${told.join('; ')}`);
    }
  }
}

async function reasonOf(operator: Operator): Promise<string> {
  const denied = (await operator.log()).find(({ decision }) => decision === 'deny');
  if (denied?.reason == null) throw new Error('no denial is in the log');
  return denied.reason;
}

function heldStop(tool: string, reason: string, { played, stage }: Outcome): void {
  if (!stage.stopped.has(tool)) throw new Error(`${tool} was not told to stop`);
  const told = [played.error, ...played.reads].map(textOf);
  if (!told.some((text) => /terminated|Stopped/.test(text) && text.includes(reason))) {
    throw new Error(`nobody hears that ${tool} was stopped: ${told.join('; ')}`);
  }
}

function textOf(told: unknown): string {
  return told instanceof Error ? told.message : JSON.stringify(told);
}

async function heldEnd(operator: Operator, resource: string, { state, outcome, cost_usd: cost }: ExpectedEnd) {
  // A model may have been called more than once: the first call is the one that the table speaks of.
  const op = (await operator.ops()).findLast((each) => each.resource === resource);
  if (op === undefined) throw new Error(`there is no operation of ${resource}`);
  if (state !== undefined) same(`the state of ${resource}`, op.state, state);
  if (cost !== undefined) same(`the cost of ${resource}`, op.cost_micros, Math.round(Number(cost) * 1_000_000));
  if (outcome === undefined) return;
  const moved = (await operator.log()).filter(
    ({ op_id: id, event_type: type, payload }) => id === op.op_id && type === 'OpStateChanged' && 'outcome' in payload,
  );
  same(
    `the outcome of ${resource}`,
    moved.map(({ payload }) => payload['outcome']),
    [outcome],
  );
}

/** The decisions in the log, by those members that the table speaks of, in a fixed order. */
async function decisionsOf({ operator }: Outcome, wanted: readonly ExpectedDecision[]): Promise<readonly string[]> {
  // An SDK asks again when its control stream was broken. That is no decision of its own.
  const isNew = ({ decision, payload }: Entry) => decision !== null && payload['replay'] !== true;
  const entries = (await operator.log()).filter(isNew);
  const models = wanted.some(({ action }) => action === 'llm_call');
  const described = entries.map((entry) => describe(entry)).filter(({ action }) => models || action !== 'llm_call');
  return described
    .map((each) => {
      const like = wanted.find((one) => Object.entries(one).every(([key, value]) => each[key as 'action'] === value));
      return JSON.stringify(like ?? each);
    })
    .sort();
}

function describe({ payload, decision, policy_rule: rule, lineage }: Entry): ExpectedDecision {
  const { agent_id: agent, parent_agent_id: parent, depth } = lineage;
  const {
    action,
    resource,
    run_id: run,
  } = payload as { action?: { type?: string }; resource?: string; run_id?: string };
  return {
    action: action?.type ?? '',
    resource: resource ?? '',
    decision: decision ?? '',
    rule: rule ?? '',
    ...(agent.endsWith('.child') ? { agent: 'child' as const } : {}),
    ...(parent !== null && agent === `${parent}.child` ? { parent: true as const } : {}),
    depth,
    run_id: run ?? '',
  };
}

function keyed(decisions: readonly ExpectedDecision[]): readonly string[] {
  return decisions.map((each) => JSON.stringify(each)).sort();
}

function same(what: string, found: unknown, wanted: unknown): void {
  const [one, other] = [sorted(found), sorted(wanted)].map((each) => JSON.stringify(each));
  if (one !== other) throw new Error(`${what}: ${one} in place of ${other}`);
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => one.localeCompare(other)));
}
