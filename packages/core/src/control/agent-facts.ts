import type { Ledger } from '../budget/index.ts';
import type { Applying, Meanings, Touch, Undo, Write } from '../journal/index.ts';
import { agentValues, nothingToApply, update } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { AgentChange, AgentDirectory, AgentRecord } from '../tenancy/index.ts';
import { agentAfter, agentOfChange, agentsTable, credentialEnded, tokenEnd, tokenName } from '../tenancy/index.ts';
import { dropOp, rowsName } from '../ops/index.ts';
import type { ControlState } from './controls.ts';

interface State extends Pick<ControlState, 'clock' | 'control' | 'ops'> {
  readonly ledger: Pick<Ledger, 'balances'>;
  readonly directory: AgentDirectory;
}

/** What is known of an agent changes by the rule that all stores follow. A stream ends with the token it came with. */
function apply({ clock, control, directory }: State, change: AgentChange, how: Applying): Undo {
  const known = directory.find(agentOfChange(change));
  const before = known?.record;
  const after = agentAfter(before, change);
  if (after === before) return nothingToApply();
  if (known !== undefined && before !== undefined && hasLostToken(before, after)) {
    how.onDurable(() => control.endStreams(known.key, credentialEnded()));
  }
  if (after === undefined) {
    if (known !== undefined) directory.remove(known);
    return () => known && directory.reinstate(known);
  }
  const agent = directory.put(after, Math.max(known?.lastSeenAt ?? 0, after.registeredAt));
  agent.blocked = control.isBlocked(agent.key);
  if (change.kind === 'agent_saved') {
    agent.aliveAt = clock.elapsed();
    agent.isHere = how.isHere;
  }
  return () => {
    if (before === undefined) directory.remove(agent);
    else directory.put(before, agent.lastSeenAt);
  };
}

/** A token that was renewed works on for a while, and so do the streams that came with it. */
function hasLostToken({ tokenHash }: AgentRecord, after: AgentRecord | undefined): boolean {
  if (after === undefined || tokenHash === null) return tokenHash !== null;
  return tokenEnd(after, tokenHash) === undefined;
}

/** An agent that leaves takes along its operations, unless these are to be shown, and how it used the gateway. */
function leave(state: State, change: Extract<AgentChange, { readonly kind: 'agent_removed' }>, how: Applying): Undo {
  const { control, directory, ops } = state;
  const known = directory.find(change.id);
  if (known === undefined) return nothingToApply();
  const { coverage } = known;
  const waited = directory.used.delete(known);
  const left = change.keepsOps === true ? [] : [...ops.of(known)];
  const undos = left.map((op) => ops.forget(op));
  known.coverage = null;
  const stay = apply(state, change, how);
  how.onDurable(() => control.discardEmpty(known.key));
  return () => {
    stay();
    known.coverage = coverage;
    if (waited) directory.used.add(known);
    for (const undo of undos.reverse()) undo();
  };
}

/** A start knows the agent as it is now. It may be registered again; the operations from before are gone. */
function forgetOps(
  state: State,
  { id, keepsOps }: Extract<AgentChange, { readonly kind: 'agent_removed' }>,
  { seq }: Applying,
): void {
  const agent = state.directory.find(id);
  if (agent === undefined || keepsOps === true) return;
  for (const op of [...state.ops.of(agent)]) if (op.savedSeq < seq) dropOp(state, op);
}

/** Lineage and topology of others depend on who is registered. */
function touch(change: AgentChange): Touch {
  return { org: agentOfChange(change).orgId };
}

/** At another gateway, an agent of another org may be given the same token. */
function tokensOf({
  agent: { tokenHash, tokenLife },
}: Extract<AgentChange, { readonly kind: 'agent_saved' }>): string[] {
  const former = (tokenLife?.former ?? []).map(({ hash }) => hash);
  return (tokenHash === null ? former : [tokenHash, ...former]).map(tokenName);
}

function rows(change: AgentChange): readonly Write[] {
  return [update(agentsTable, agentValues(agentOfChange(change)), (stored) => agentAfter(stored, change))];
}

export const agentFacts: Meanings<State, AgentChange> = {
  agent_saved: { apply, touch, claims: tokensOf, rows },
  agent_controlled: { apply, touch: ({ id }) => ({ agent: agentKey(id) }), rows },
  agent_suspended: { apply, touch, rows },
  agent_resumed: { apply, touch, rows },
  agent_removed: { apply: leave, touch, claims: ({ id }) => [rowsName(id)], rows, redo: { ops: forgetOps } },
};
