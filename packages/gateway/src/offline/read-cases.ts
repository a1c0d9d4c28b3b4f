import type { Decision, Member, PolicySource } from '@reeve/core';
import { checkCost, messageOf, microsOfUsd, parseCheckRequest } from '@reeve/core';
import type { Document, Node } from 'yaml';
import { isMap, isScalar } from 'yaml';
import { inexactIn } from '../evaluation/inexact-in.ts';
import { CaseYaml } from './case-yaml.ts';
import type { CaseAgent, CaseGroup, CaseRequest, EarlierRequest, PolicyCase, ReadCases } from './policy-case.ts';
import { readAction } from './read-action.ts';
import { readUser } from './read-user.ts';
import { readExpected } from './read-expected.ts';

const groupKeys = ['about', 'policies', 'cases', 'problems'] as const;
const askedKeys = ['agent', 'action', 'arguments', 'cost_micros', 'cost_usd', 'run', 'at', 'user', 'result'] as const;
const earlierKeys = [...askedKeys, 'times', 'settled_micros', 'decision'] as const;
const answerKeys = [
  'decision',
  'rule',
  'reason',
  'reserved_micros',
  'audited',
  'limit',
  'observed',
  'approvals',
  'rewritten_args',
  'labels',
  'judge_result',
  'on_result',
] as const;
const caseKeys = ['case', ...askedKeys, 'registered', 'before', 'spend', ...answerKeys] as const;
const registeredKeys = ['name', 'framework', 'metadata', 'parent', 'depth'] as const;
const tiers = ['global', 'org', 'team', 'agent'] as const;

type RequestMembers = Partial<Record<(typeof askedKeys)[number], Member>>;
type Members<Keys extends readonly string[]> = Partial<Record<Keys[number], Member>>;

/**
 * Reads a file of cases. A misspelled member would make a case that proves nothing, so it is reported with its place.
 */
export function readCases(source: PolicySource, mostMicros: number): ReadCases {
  const yaml = new CaseYaml(source);
  if (yaml.problems.length > 0) return { groups: [], problems: yaml.problems };
  const groups = yaml.documents
    .filter(({ contents }) => contents !== null && !(isScalar(contents) && contents.value === null))
    .map((document) => readGroup(yaml, document, source.file, mostMicros));
  const inOrder = yaml.problems.toSorted((one, other) => one.line - other.line || one.column - other.column);
  return { groups, problems: inOrder };
}

function readGroup(yaml: CaseYaml, document: Document.Parsed, file: string, mostMicros: number): CaseGroup {
  const node = document.contents ?? undefined;
  const { about, policies, cases, problems } = yaml.known(document, node, 'a group of cases', groupKeys);
  if (cases === undefined && problems === undefined) yaml.complain(node, 'a group needs "cases"');
  if (problems !== undefined && policies === undefined) {
    yaml.complain(problems.nameNode, '"problems" are those of the group’s own "policies", which are missing');
  }
  const told = problems === undefined ? undefined : (yaml.items(document, problems.value, '"problems"') ?? []);
  return {
    file,
    line: yaml.place(node).line,
    about: yaml.textOf(about),
    policies: policies === undefined ? undefined : readPolicies(yaml, document, policies),
    cases: itemsOf(yaml, document, cases).flatMap((item) => readCase(yaml, document, item, mostMicros) ?? []),
    problems: told?.map((item) => yaml.text(item, 'a problem') ?? ''),
  };
}

function itemsOf(yaml: CaseYaml, document: Document.Parsed, member: Member | undefined): Node[] {
  return member === undefined ? [] : (yaml.items(document, member.value, `"${member.name}"`) ?? []);
}

function readPolicies(yaml: CaseYaml, document: Document.Parsed, member: Member): PolicySource[] {
  const files = yaml.members(document, member.value, '"policies"') ?? [];
  return files.map(({ name, value }) => ({
    file: name,
    text: isScalar(value) && typeof value.value === 'string' ? value.value : '',
  }));
}

function readCase(yaml: CaseYaml, document: Document.Parsed, node: Node, mostMicros: number): PolicyCase | undefined {
  const before = yaml.problems.length;
  yaml.countChecks(node, 1);
  const found = yaml.known(document, node, 'a case', caseKeys);
  for (const needed of ['case', 'agent', 'action', 'decision'] as const) {
    if (found[needed] === undefined) yaml.complain(node, `a case needs "${needed}"`);
  }
  const made: PolicyCase = {
    name: yaml.textOf(found.case),
    line: yaml.place(node).line,
    ...readRequest(yaml, document, found),
    registered: readRegistered(yaml, document, found.registered),
    before: itemsOf(yaml, document, found.before).map((item) => readEarlier(yaml, document, item)),
    run: readRun(yaml, document, found.run),
    spend: readSpend(yaml, document, found.spend),
    expected: readExpected(yaml, document, found),
  };
  if (yaml.problems.length === before) checkForm(yaml, node, made, mostMicros);
  return yaml.problems.length === before ? made : undefined;
}

function readEarlier(yaml: CaseYaml, document: Document.Parsed, node: Node): EarlierRequest {
  const found: Members<typeof earlierKeys> = yaml.known(document, node, '"before"', earlierKeys);
  for (const needed of ['agent', 'action'] as const) {
    if (found[needed] === undefined) yaml.complain(node, `what was "before" needs "${needed}"`);
  }
  const { times, settled_micros: settled, decision } = found;
  const count = times === undefined ? 1 : yaml.wholeOf(times);
  yaml.countChecks(times?.value ?? node, count);
  const decided: Decision | undefined =
    decision === undefined ? 'allow' : yaml.choice(decision.value, '"decision"', ['allow', 'deny', 'pending']);
  return {
    ...readRequest(yaml, document, found),
    times: count,
    settledMicros: settled === undefined ? undefined : yaml.wholeOf(settled),
    decision: decided ?? 'allow',
  };
}

function readRequest(yaml: CaseYaml, document: Document.Parsed, found: RequestMembers): CaseRequest {
  const { cost_micros: micros, cost_usd: usd, run, at } = found;
  const given = found.arguments === undefined ? undefined : yaml.jsonOf(document, found.arguments);
  const dollars = usd === undefined ? null : (microsOfUsd(yaml.numberOf(usd)) ?? 0);
  const id = run !== undefined && isMap(run.value) ? yaml.known(document, run.value, '"run"', runKeys).id : run;
  return {
    agent: yaml.agentOf(found.agent),
    action: readAction(yaml, document, found.action, given),
    costMicros: micros === undefined ? dollars : yaml.wholeOf(micros),
    runId: yaml.textOf(id),
    user: readUser(yaml, document, found.user),
    at: at === undefined ? undefined : yaml.timeOf(at),
    result: found.result === undefined ? undefined : resultText(yaml.jsonOf(document, found.result)),
  };
}

/** A text is what is sent. Anything else is sent as JSON. */
function resultText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readRegistered(yaml: CaseYaml, document: Document.Parsed, member: Member | undefined): CaseAgent {
  const found: Members<typeof registeredKeys> =
    member === undefined ? {} : yaml.known(document, member.value, '"registered"', registeredKeys);
  const { name, framework, metadata, parent, depth } = found;
  const described = metadata === undefined ? [] : (yaml.members(document, metadata.value, '"metadata"') ?? []);
  if (parent !== undefined) yaml.agentOf(parent);
  return {
    name: yaml.textOf(name),
    framework: yaml.textOf(framework),
    depth: depth === undefined ? Number(parent !== undefined) : yaml.wholeOf(depth),
    metadata: Object.fromEntries(described.map((one) => [one.name, yaml.textOf(one)])),
  };
}

const runKeys = ['id', 'checks', 'spent_usd', 'labels'] as const;

function readRun(yaml: CaseYaml, document: Document.Parsed, member: Member | undefined): PolicyCase['run'] {
  if (member === undefined || !isMap(member.value)) return {};
  // Reading the request has already reported unknown members.
  const members = new Map((yaml.members(document, member.value, '"run"') ?? []).map((one) => [one.name, one]));
  const labels = members.get('labels');
  const isCounted = labels === undefined || members.has('checks') || members.has('spent_usd');
  return {
    ...(isCounted
      ? { checks: yaml.numberOf(members.get('checks')), spent_usd: yaml.numberOf(members.get('spent_usd')) }
      : {}),
    ...(labels === undefined
      ? {}
      : { labels: itemsOf(yaml, document, labels).map((item) => yaml.text(item, 'a label') ?? '') }),
  };
}

function readSpend(yaml: CaseYaml, document: Document.Parsed, member: Member | undefined): PolicyCase['spend'] {
  const found: Members<typeof tiers> = member === undefined ? {} : yaml.known(document, member.value, '"spend"', tiers);
  const spend = tiers.flatMap((tier) => {
    const given = found[tier];
    if (given === undefined) return [];
    const { day_usd: day, month_usd: month } = yaml.known(document, given.value, `"${tier}"`, ['day_usd', 'month_usd']);
    const spent = yaml.numberOf(day);
    return [[tier, { day_usd: spent, month_usd: month === undefined ? spent : yaml.numberOf(month) }] as const];
  });
  return Object.fromEntries(spend);
}

/** Reports what a gateway would refuse before judging it. */
function checkForm(yaml: CaseYaml, node: Node, made: PolicyCase, mostMicros: number): void {
  try {
    for (const request of [...made.before, made]) checkRequestOf(request, mostMicros);
    for (const { settledMicros } of made.before) {
      if (settledMicros !== undefined) checkCost('settled_micros', settledMicros, mostMicros);
    }
  } catch (error) {
    yaml.complain(node, `no agent could send this: ${messageOf(error)}`);
  }
}

/** The request as an agent would send it; throws if its form is wrong. */
export function checkRequestOf(
  { agent, action, costMicros, runId, user }: CaseRequest,
  mostMicros: number,
): ReturnType<typeof parseCheckRequest> {
  const raw = {
    agentId: agent,
    token: '',
    traceId: 'case',
    spanId: 'case',
    action,
    caller: null,
    estimatedCostMicros: costMicros,
    runId,
    summary: '',
    user,
    // A caller that cannot pass them on is denied wherever something is rewritten. No rule decides that.
    canRewrite: true,
    canMaskPrompt: true,
    inexact: inexactIn(action),
  };
  return parseCheckRequest(raw, mostMicros);
}
