import type { Mutant } from './mutant.ts';
import { core } from './mutant.ts';

/** Who acts, for whom, until when, and who decides. */
export const identityMutants: readonly Mutant[] = [
  {
    name: 'tokens: one that has expired is served',
    file: `${core}/tenancy/identify.ts`,
    text: 'if (end !== null && clock.now() >= end) {',
    replacement: 'if (end !== null && clock.now() < 0) {',
  },
  {
    name: 'tokens: a start forgets when they expire',
    file: `${core}/tenancy/tenancy-rows.ts`,
    text: 'return stored === null ? {} : { tokenLife: JSON.parse(stored) as TokenLife };',
    replacement:
      'return { tokenLife: { ...(JSON.parse(stored ?? "{}") as TokenLife), ttlSecs: null, expiresAt: null, former: [] } };',
  },
  {
    name: 'tokens: one that was renewed never ends',
    file: `${core}/tenancy/agent.ts`,
    text: 'return tokenLife?.former.find((former) => equalInConstantTime(former.hash, hash))?.until;',
    replacement:
      'return tokenLife?.former.some((former) => equalInConstantTime(former.hash, hash)) ? null : undefined;',
  },
  {
    name: 'delegations: a delegate may do what its delegator may not',
    file: `${core}/decision/judge-call.ts`,
    text: 'const asSent = above.length === 0 ? own : strictestOf(own, above);',
    replacement: 'const asSent = above.length >= 0 ? own : strictestOf(own, above);',
  },
  {
    name: 'delegations: checks at other gateways do not count',
    file: `${core}/control/delegation-facts.ts`,
    text: 'delegation_used: { apply,',
    replacement:
      'delegation_used: { apply: (state, change, how) => (how.isHere ? apply(state, change) : () => undefined),',
  },
  {
    name: 'delegations: what is reserved does not count for what they may cost',
    file: `${core}/decision/judge-delegation.ts`,
    text: 'const used = plus(settledMicros, tier === undefined ? 0 : ledger.read(tier).reserved);',
    replacement:
      'const used = plus(settledMicros, tier === undefined ? 0 : Math.min(0, Number(ledger.read(tier).reserved)));',
  },
  {
    name: 'delegations: a check that is taken back counts on',
    file: `${core}/tenancy/delegations.ts`,
    text: 'return () => this.#set(key, before);',
    replacement: "return () => change.kind !== 'delegation_used' && this.#set(key, before);",
  },
  {
    name: 'delegations: they cover every tool',
    file: `${core}/decision/judge-delegation.ts`,
    text: "if (action.type === 'tool_call' && tools.length > 0 && !matches(tools, action.tool, evaluation)) {",
    replacement: "if (action.type === 'tool_call' && tools.length > 100 && !matches(tools, action.tool, evaluation)) {",
  },
  {
    name: 'delegations: those that have expired go on',
    file: `${core}/tenancy/delegation-links.ts`,
    text: 'if (delegation.expiresAt <= now || delegator === undefined) return true;',
    replacement: 'if (delegation.expiresAt < 0 || delegator === undefined) return true;',
  },
  {
    name: 'delegations: they end at one gateway alone',
    file: `${core}/control/delegation-facts.ts`,
    text: 'delegation_ended: { apply: end,',
    replacement:
      'delegation_ended: { apply: (state, change, how) => (how.isHere ? end(state, change, how) : () => undefined),',
  },
  {
    name: 'delegations: what is in flight goes on after the end',
    file: `${core}/tenancy/end-delegation.ts`,
    text: 'announce(gov.reactions.agentLeaving, { agent, actor, because: told[cause], keepsOps: true });',
    replacement: 'announce satisfies unknown;',
  },
  {
    name: 'delegations: those below one that ends go on',
    file: `${core}/tenancy/end-delegation.ts`,
    text: '  endDelegationsBy(gov, agent, actor);\n  const { id }',
    replacement: '  const { id }',
  },
  {
    name: 'delegations: a suspended delegator stops nobody',
    file: `${core}/tenancy/delegation-links.ts`,
    text: 'delegator === undefined || delegator.record.suspension !== null || delegator.blocked) return true;',
    replacement: 'delegator === undefined || delegator.blocked) return true;',
  },
  {
    name: 'delegations: charges do not count for whoever delegates',
    file: `${core}/budget/tier.ts`,
    text: 'if (delegators.length === 0) return tiers;',
    replacement: 'if (delegators.length >= 0) return tiers;',
  },
  {
    name: 'delegations: a start forgets them',
    file: `${core}/tenancy/tenancy-facts.ts`,
    text: "for (const delegation of delegations) yield { kind: 'delegation_saved', delegation };",
    replacement: 'delegations satisfies unknown;',
  },
  {
    name: 'users: a token that has ended counts',
    file: `${core}/decision/prove-user.ts`,
    text: 'return now < subject.until ? undefined',
    replacement: 'return now < subject.until + 1e12 ? undefined',
  },
  {
    name: 'users: a token that does not verify is ignored',
    file: `${core}/decision/prove-user.ts`,
    text: 'if (!subject.proven) return subject.why;',
    replacement: 'if (!subject.proven) return undefined;',
  },
  {
    name: 'approvers: the user decides',
    file: `${core}/approvals/approver.ts`,
    text: 'if (notUser === true && user !== null && isUser(approver, user)) {',
    replacement: 'if (notUser === true && user !== null && isUser(approver, user) && by?.length === 0) {',
  },
  {
    name: 'approvers: everybody decides',
    file: `${core}/approvals/approver.ts`,
    text: 'const unmet = by?.find((terms) => !meets(terms, approver));',
    replacement: 'const unmet = by?.find((terms) => !meets(terms, approver) && terms.roles?.length === 0);',
  },
  {
    name: 'approvers: one person counts twice',
    file: `${core}/approvals/give-verdict.ts`,
    text: "throw new ReeveError('already_decided', 'you have given your verdict; another person must give theirs', { state });",
    replacement: 'state satisfies unknown;',
  },
  {
    name: 'rates: what other gateways count does not count',
    file: `${core}/budget/rates/rates-facts.ts`,
    text: 'apply: ({ rates }, fact, how) => rates.apply(fact, how),',
    replacement: 'apply: ({ rates }, fact, how) => (how.isHere ? rates.apply(fact, how) : () => undefined),',
  },
  {
    name: 'rates: a check that is taken back counts on',
    file: `${core}/budget/rates/rates-facts.ts`,
    text: 'apply: ({ rates }, fact, how) => rates.apply(fact, how),',
    replacement: 'apply: ({ rates }, fact, how) => { rates.apply(fact, how); return () => undefined; },',
  },
  {
    name: 'rates: a start forgets what was counted after the mark',
    file: `${core}/budget/rates/rates-facts.ts`,
    text: 'redo: { rates: ({ rates }, fact, { seq }) => rates.redo(fact, seq) },',
    replacement: 'redo: { rates: () => undefined },',
  },
  {
    name: 'rates: room here is taken for room everywhere',
    file: `${core}/budget/rates/watched-rates.ts`,
    text: '? rates.isWithin(agent, counting, now, sha256)',
    replacement: '? names.length > 0',
  },
  {
    name: 'releases: facts that cannot be read take nobody out of service',
    file: `${core}/replication/follow-commit.ts`,
    text: 'for (const { touched } of faults) gov.directory.outOfService.missed(touched ?? everything);',
    replacement: 'everything satisfies unknown;',
  },
  {
    name: 'releases: a version of a policy that could not be read is written over',
    file: `${core}/policy/store/store-version.ts`,
    text: 'gov.directory.outOfService.refuseOrg(bindingOfName(saving.name)?.orgId ?? null);',
    replacement: '',
  },
  {
    name: 'releases: labels of a run that could not be read concern nobody else in it',
    file: `${core}/runs/runs-facts.ts`,
    text: `    apply: ({ runs }, change) => runs.give(change),
    touch: touchOfBearer,`,
    replacement: `    apply: ({ runs }, change) => runs.give(change),
    touch: ({ by }) => ({ agent: agentKey(by) }),`,
  },
  {
    name: 'releases: a refused check counts for a delegation that could not be read in full',
    file: `${core}/decision/judge-delegation.ts`,
    text: 'links.length === 0 || unreadBehind(gov.directory, agent) !== undefined',
    replacement: 'links.length === 0',
  },
  {
    name: 'releases: a cost counts for a delegation that could not be read in full',
    file: `${core}/ops/move-op.ts`,
    text: "if (trigger === 'complete' && op.delegators.length > 0) ",
    replacement: "if (trigger === 'resume') ",
  },
  {
    name: 'releases: a result is judged for a delegate although a delegator could not be read in full',
    file: `${core}/decision/check-result.ts`,
    text: '  requireReadInFull(gov.directory, agent);\n',
    replacement: '  void requireReadInFull;\n',
  },
  {
    name: 'releases: an unknown kind is passed over',
    file: `${core}/replication/facts-of-commit.ts`,
    text: 'unread.push({ touched, why: `step',
    replacement: 'if (written.length < 0) unread.push({ touched, why: `step',
  },
  {
    name: 'releases: callers are believed although a fact could not be read',
    file: `${core}/replication/follow-commit.ts`,
    text: 'if (faults.length > 0) gov.callers.distrust();',
    replacement: '',
  },
  {
    name: 'releases: a start passes over commits that it cannot read in full',
    file: `${core}/recover.ts`,
    text: 'if (!isRead) await fromEntries(before, seq);',
    replacement: 'before satisfies unknown;',
  },
];
