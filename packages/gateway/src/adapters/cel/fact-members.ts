import type { Subject } from '@reeve/core';
import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { clear, Timestamp } from './values.ts';

type FactType = 'string' | 'int' | 'double' | 'list<string>' | 'map<string, string>' | 'map<string, dyn>';

interface FactMember {
  readonly type: FactType;
  readonly read: (frame: Frame) => unknown;
}

/**
 * The variables that have members, and the members (contract, Policy and approvals). A member that an action lacks is
 * the empty string or 0. Host and path are those that matchers see: each host has one spelling, `.` and `..` are
 * resolved, and the host of a tool call comes from its URL.
 */
const members: Readonly<Record<string, FactMember>> = {
  'agent.org_id': text(({ facts }) => facts.agent.id.orgId),
  'agent.team_id': text(({ facts }) => facts.agent.id.teamId),
  'agent.agent_id': text(({ facts }) => facts.agent.id.agentId),
  'agent.name': text(({ facts }) => facts.agent.name),
  'agent.framework': text(({ facts }) => facts.agent.framework),
  'agent.depth': whole(({ facts }) => facts.depth),
  'agent.metadata': { type: 'map<string, string>', read: ({ facts }) => entriesOf(facts.agent.metadata) },
  'action.type': text(({ facts }) => facts.action.type),
  'action.tool': text(({ facts }) => facts.action.tool),
  'action.source': text(({ facts }) => facts.action.source),
  'action.model': text(({ facts }) => facts.action.model),
  'action.host': text((frame) => readable(frame, 'hosts').host ?? ''),
  'action.port': whole(({ facts }) => facts.action.port),
  'action.path': text((frame) => readable(frame, 'paths').path ?? ''),
  'action.operation': text(({ facts }) => facts.action.operation),
  'action.command': text(({ facts }) => facts.action.command),
  'action.target_url': text(({ facts }) => facts.action.url),
  'action.annotations': { type: 'map<string, dyn>', read: ({ facts }) => facts.annotations() },
  'action.cost_usd': amount(({ facts }) => facts.costUsd),
  'run.id': text((frame) => frame.run().id),
  'run.checks': whole((frame) => frame.run().checks),
  'run.spent_usd': amount((frame) => frame.run().spent_usd),
  'run.labels': { type: 'list<string>', read: (frame) => frame.run().labels },
  'spend.global.day_usd': amount((frame) => frame.spend().global.day_usd),
  'spend.global.month_usd': amount((frame) => frame.spend().global.month_usd),
  'spend.org.day_usd': amount((frame) => frame.spend().org.day_usd),
  'spend.org.month_usd': amount((frame) => frame.spend().org.month_usd),
  'spend.team.day_usd': amount((frame) => frame.spend().team.day_usd),
  'spend.team.month_usd': amount((frame) => frame.spend().team.month_usd),
  'spend.agent.day_usd': amount((frame) => frame.spend().agent.day_usd),
  'spend.agent.month_usd': amount((frame) => frame.spend().agent.month_usd),
  'user.issuer': text((frame) => frame.user()?.issuer ?? ''),
  'user.sub': text((frame) => frame.user()?.sub ?? ''),
  'user.email': text((frame) => frame.user()?.email ?? ''),
  'user.groups': { type: 'list<string>', read: (frame) => frame.user()?.groups ?? [] },
  'user.claims': { type: 'map<string, dyn>', read: (frame) => frame.user()?.claims ?? {} },
};

/** An unreadable host or path has no value, so that a rule that allows does not take it for an absent one. */
function readable(frame: Frame, dimension: 'hosts' | 'paths'): Subject {
  const subject = frame.subject();
  if (subject.unclear?.dimensions.includes(dimension) !== true) return subject;
  throw fault(dimension === 'hosts' ? 'the host cannot be read' : 'the path cannot be read');
}

/** Facts whose members are not known when a policy is loaded. */
const undivided: Readonly<Record<string, (frame: Frame) => unknown>> = {
  args: (frame) => clear(frame.args()),
  now: ({ facts }) => new Timestamp(BigInt(facts.now) * 1_000_000n),
  result: (frame) => clear(frame.result()),
  result_text: (frame) => frame.resultText(),
};

const ofCalls = ['agent', 'action', 'args', 'now', 'run', 'spend', 'user'] as const;

/** What the conditions of rules on calls, and of rules on results, may name. */
export const variableNames = { call: ofCalls, result: [...ofCalls, 'result', 'result_text'] } as const;

export type ConditionOn = keyof typeof variableNames;

/** The members of a variable with their types, as a tree for the type checker. */
export interface FactSchema {
  readonly [member: string]: FactType | FactSchema;
}

export function schemaOf(variable: string): FactSchema {
  return Object.fromEntries(
    membersOf(variable).map((name) => {
      const path = `${variable}.${name}`;
      return [name, members[path]?.type ?? schemaOf(path)];
    }),
  );
}

/** The names that may follow a path such as `agent` or `spend.org`; empty where the path is a fact or unknown. */
export function membersOf(path: string): string[] {
  const below = Object.keys(members).filter((name) => name.startsWith(`${path}.`));
  return [...new Set(below.map((name) => name.slice(path.length + 1).split('.', 1)[0] ?? ''))];
}

/** The reader of a fact such as `args` or `action.tool`; undefined if no fact has this name. */
export function readerOf(name: string): ((frame: Frame) => unknown) | undefined {
  if (Object.hasOwn(undivided, name)) return undivided[name];
  return Object.hasOwn(members, name) ? members[name]?.read : undefined;
}

/** Records of agents never change, so each map is made once per record. */
const entries = new WeakMap<object, ReadonlyMap<string, string>>();

function entriesOf(metadata: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const known = entries.get(metadata);
  if (known !== undefined) return known;
  const made = new Map(Object.entries(metadata));
  entries.set(metadata, made);
  return made;
}

function text(read: (frame: Frame) => string): FactMember {
  return { type: 'string', read };
}

function whole(read: (frame: Frame) => number): FactMember {
  return { type: 'int', read: (frame) => BigInt(read(frame)) };
}

function amount(read: (frame: Frame) => number): FactMember {
  return { type: 'double', read };
}
