import type { AgentChange, AgentId, Change } from '@reeve/core';
import { agentOfChange } from '@reeve/core';
import { balancesOver, balanceValues, closedGivenUp, closedSql, closedValues } from '../sql/balance-rows.ts';
import { approvalSql, approvalValues, grantValues } from '../sql/approval-rows.ts';
import { bulkValues, controlSql, receiptValues } from '../sql/control-rows.ts';
import type { SqlValue } from '../sql/sql-database.ts';
import { apiKeyValues, opValues, signingKeyValues } from '../sql/sqlite-rows.ts';
import { lastGivenUp, policySql, setRecord, versionValues } from '../sql/policy-rows.ts';
import { AgentChanges } from './agent-changes.ts';
import type { NoticeKind } from './notices.ts';
import { noticesStatement } from './notices.ts';
import { placeholders } from './placeholders.ts';
import { textsStatement } from './postgres-policies.ts';
import { blockBits } from './postgres-schema.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';
import type { Table } from './tables.ts';
import {
  apiKeysTable,
  approvalsTable,
  balancesTable,
  bulksTable,
  closedPeriodsTable,
  grantsTable,
  opsTable,
  owedEntriesTable,
  policyVersionsTable,
  receiptsTable,
  removeRows,
  saveRows,
  sequencesTable,
  signingKeysTable,
} from './tables.ts';

/** The statements that write the changes of one batch, for the gateway in this seat. */
export function changeStatements(changes: readonly Change[], seat: number): Statement[] {
  const folded = new FoldedChanges(seat);
  for (const change of changes) folded.add(change);
  return folded.finish();
}

/**
 * Changes of a batch come into force at once, so only the last one of each row counts: all rows of a table are written
 * with one statement, however many there are.
 */
class FoldedChanges {
  readonly #seat: number;
  readonly #statements: Statement[] = [];
  /** By table and key: the values to be saved, or undefined where the row goes. */
  readonly #rows = new Map<Table, Map<string, { key: SqlValue[]; values: SqlValue[] | undefined }>>();
  readonly #agents = new AgentChanges();
  readonly #uses = new Map<string, number>();
  readonly #notices = new Map<NoticeKind, Map<string, string[]>>();

  constructor(seat: number) {
    this.#seat = seat;
  }

  add(change: Change): void {
    const seat = this.#seat;
    switch (change.kind) {
      case 'agent_saved':
      case 'agent_controlled':
      case 'agent_suspended':
      case 'agent_resumed':
      case 'agent_removed':
        this.#changeAgent(change);
        break;
      case 'api_key_saved':
        this.#save(apiKeysTable, apiKeyValues(change.key));
        this.#uses.delete(change.key.id);
        this.#notice('api_key', [change.key.id]);
        break;
      case 'api_key_used':
        this.#uses.set(change.id, Math.max(change.at, this.#uses.get(change.id) ?? 0));
        this.#notice('api_key', [change.id]);
        break;
      case 'signing_key_saved':
        this.#save(signingKeysTable, signingKeyValues(change.key));
        this.#notice('signing_key', [change.key.kid]);
        break;
      case 'signing_key_removed':
        this.#remove(signingKeysTable, [change.kid]);
        this.#notice('signing_key', [change.kid]);
        break;
      case 'op_saved':
        this.#save(opsTable, [seat, ...opValues(change.op)]);
        break;
      case 'op_removed':
        this.#remove(opsTable, [seat, ...idValues(change.id), change.opId]);
        break;
      case 'receipt_saved':
        this.#save(receiptsTable, [...receiptValues(change.receipt), seat]);
        break;
      case 'bulk_control_saved':
        this.#save(bulksTable, bulkValues(change.bulk));
        break;
      case 'control_sequence_saved':
        this.#save(sequencesTable, [seat, ...idValues(change.sequence.agent), change.sequence.sequence]);
        break;
      case 'owed_entry_recorded':
        this.#remove(owedEntriesTable, [change.id]);
        break;
      case 'ops_replay_from':
        this.#run('ops_replay_from', 'UPDATE seats SET ops_replay_from = ? WHERE seat = ?', change.seq, seat);
        break;
      case 'ops_forgotten':
        this.#run('forget_ops', 'DELETE FROM ops WHERE seat = ?', seat);
        this.#run('forget_replay', 'UPDATE seats SET ops_replay_from = NULL WHERE seat = ?', seat);
        break;
      case 'balances_saved':
        for (const name of balancesOver(change)) this.#remove(balancesTable, [seat, name]);
        for (const row of balanceValues(change)) this.#save(balancesTable, [seat, ...row]);
        for (const row of closedValues(change)) this.#save(closedPeriodsTable, [seat, ...row]);
        for (const row of closedGivenUp(change)) this.#run('give_up_closed_books', closedSql.giveUp, ...row);
        break;
      case 'policy_saved':
        this.#save(policyVersionsTable, versionValues(change.saved));
        this.#run('give_up_versions', policySql.removeVersions, change.saved.name, lastGivenUp(change.saved));
        this.#notice('policy', [change.saved.name]);
        break;
      case 'policy_set_saved':
        this.#run('save_policy_set', policySql.saveSet, change.set.version, setRecord(change.set));
        this.#statements.push(textsStatement(change.set));
        this.#run('give_up_texts', policySql.removeTexts);
        this.#run('give_up_sets', policySql.removeSets);
        break;
      case 'approval_saved':
        this.#save(approvalsTable, [...approvalValues(change.approval), seat]);
        break;
      case 'grant_saved':
        this.#save(grantsTable, [...grantValues(change.grant), seat]);
        break;
      case 'approvals_removed':
        this.#run('remove_approvals', approvalSql.removeOld, change.before, change.most);
        this.#run('remove_more_approvals', approvalSql.removeBeyond, change.most, change.kept);
        this.#run('remove_grants', approvalSql.removeGrants, change.before, change.most);
        break;
      case 'event_ids_reserved':
        this.#run('reserve', 'UPDATE seats SET event_ids_reserved = ? WHERE seat = ?', change.through, seat);
        break;
      case 'receipts_removed':
        this.#run('remove_receipts', controlSql.removeReceipts, change.before, change.most);
        this.#run('remove_bulks', controlSql.removeBulks, change.before, change.most);
        break;
      case 'entries_removed':
        this.#run('remove_entries', 'DELETE FROM audit WHERE seq <= ?', change.through);
        this.#run(
          'remove_times',
          'DELETE FROM audit_times WHERE block < ?',
          Math.floor((change.through + 1) / 2 ** blockBits),
        );
        break;
    }
  }

  finish(): Statement[] {
    this.#flush();
    if (this.#notices.size === 0) return this.#statements;
    const keys = new Map([...this.#notices].map(([kind, changed]) => [kind, [...changed.values()]]));
    return [...this.#statements, noticesStatement(this.#seat, keys)];
  }

  /** Each says something else of an agent, so a second one does not stand in place of the first but comes after it. */
  #changeAgent(change: AgentChange): void {
    if (this.#agents.has(change)) this.#statements.push(...this.#agents.take());
    this.#agents.add(change);
    this.#notice('agent', idValues(agentOfChange(change)));
  }

  #save(table: Table, values: SqlValue[]): void {
    this.#put(table, values.slice(0, table.keys), values);
  }

  #remove(table: Table, key: SqlValue[]): void {
    this.#put(table, key, undefined);
  }

  #put(table: Table, key: SqlValue[], values: SqlValue[] | undefined): void {
    const rows = this.#rows.get(table) ?? new Map<string, { key: SqlValue[]; values: SqlValue[] | undefined }>();
    rows.set(JSON.stringify(key), { key, values });
    this.#rows.set(table, rows);
  }

  #notice(kind: NoticeKind, key: string[]): void {
    const changed = this.#notices.get(kind) ?? new Map<string, string[]>();
    changed.set(JSON.stringify(key), key);
    this.#notices.set(kind, changed);
  }

  /** A statement about many rows, which comes after what was said of single ones before it. */
  #run(name: string, sql: string, ...values: (string | number)[]): void {
    this.#flush();
    this.#statements.push({ name, text: placeholders(sql), values });
  }

  #flush(): void {
    for (const [table, rows] of this.#rows) {
      const removed = [...rows.values()].filter((row) => row.values === undefined).map((row) => row.key);
      const saved = [...rows.values()].map((row) => row.values).filter((values) => values !== undefined);
      if (removed.length > 0) this.#statements.push(removeRows(table, removed));
      if (saved.length > 0) this.#statements.push(saveRows(table, saved));
    }
    this.#statements.push(...this.#agents.take());
    if (this.#uses.size > 0) this.#statements.push(noteUses(this.#uses));
    this.#rows.clear();
    this.#uses.clear();
  }
}

function noteUses(uses: ReadonlyMap<string, number>): Statement {
  return {
    name: 'note_uses',
    text: `UPDATE api_keys AS k SET last_used_at = GREATEST(k.last_used_at, used.at)
      FROM unnest($1::text[], $2::bigint[]) AS used (id, at) WHERE k.id = used.id`,
    values: [arrayOf([...uses.keys()]), arrayOf([...uses.values()])],
  };
}

function idValues(id: AgentId): string[] {
  return [id.orgId, id.teamId, id.agentId];
}
