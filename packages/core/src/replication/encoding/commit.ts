import type { Touched } from '../../journal/index.ts';
import type { AgentId, AgentKey } from '../../kernel/index.ts';
import { agentKey } from '../../kernel/index.ts';
import type { ReadFacts, WrittenFacts } from '../facts-of-commit.ts';
import { readSteps, textsIn } from '../facts-of-commit.ts';
import type { CommitReading, Interned } from './codec.ts';
import { CommitWriting, misfit } from './codec.ts';
import { readStep, writeStep } from './steps.ts';
import { agentOf, agentRow, flag, integer } from './values.ts';

/** The version of this form. The first one was an object. */
const version = 2;

/** The facts of one check, or of one completion. */
const fewSteps = 2;

/**
 * The facts of a commit as one list: the version, the time that others count from, whom it touches, the texts that it
 * repeats, and a row for each fact.
 */
export function writeFacts({ steps, touched }: WrittenFacts, ops: boolean): string {
  const { agents, orgs, everything } = touched;
  const texts = steps.length > fewSteps;
  const to = new CommitWriting(agents, { texts, ops });
  const rows = texts ? agents.map((key) => keyRow(key, to)) : agents;
  const written = steps.map((step) => writeStep(step, to));
  return JSON.stringify([version, to.base ?? 0, rows, orgs, everything ? 1 : 0, to.texts, written]);
}

/** Reads the list that `writeFacts` made. Throws if nothing of it can be read. */
export function readFacts(list: readonly unknown[], interned: Interned): ReadFacts {
  const [form, base, agentRows, orgs, everything, repeated, rows] = list;
  if (form !== version) throw misfit('version that this release knows');
  if (!Array.isArray(agentRows) || !Array.isArray(repeated) || !Array.isArray(rows)) throw misfit('commit');
  const texts = repeated.map((text) => (typeof text === 'string' ? interned.text(text) : undefined));
  const plain: CommitReading = { interned, texts, agents: [], base: 0 };
  const ids = agentRows.map((row) => (typeof row === 'string' ? idOf(row) : agentOf(row, plain)));
  const keys = ids.map((id, place) => (id === undefined ? String(agentRows[place]) : agentKey(id)));
  const agents = ids.map((id, place) => interned.agent(keys[place] as AgentKey) ?? id);
  const touched: Touched = {
    agents: keys,
    orgs: textsIn(orgs),
    everything: flag.read(everything, plain),
  };
  const from: CommitReading = { interned, texts, agents, base: integer.read(base, plain) };
  return readSteps(rows, touched, (row) => readStep(row, from));
}

/** Texts that agents share are written once. A key that names no agent stays as it is. */
function keyRow(key: string, to: CommitWriting): unknown {
  const id = idOf(key);
  return id === undefined ? key : agentRow(id, to);
}

/** Every commit asks for each agent that it touches, so no list is made of the parts. */
function idOf(key: string): AgentId | undefined {
  const team = key.indexOf('/') + 1;
  const agent = key.indexOf('/', team) + 1;
  if (team === 0 || agent === 0 || key.includes('/', agent)) return undefined;
  return { orgId: key.slice(0, team - 1), teamId: key.slice(team, agent - 1), agentId: key.slice(agent) };
}
