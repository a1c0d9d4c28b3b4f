import type { Op, SavedOp, Store } from '@reeve/core';
import { recordOf } from '@reeve/core';
import { Broken } from './broken.ts';
import { agentName, opName } from './judged-entry.ts';
import { textOf } from './state-of.ts';
import type { VirtualGateway } from './virtual-gateway.ts';

/** What must hold of the rows of operations when everything is at rest. */
export async function requireRows(store: Store, gateways: readonly VirtualGateway[]): Promise<void> {
  const { ops } = await store.load();
  const rows = new Map([...ops].map((row) => [opName(agentName(row.agent), row.opId), row]));
  requireRemembered(rows, gateways);
  for (const gateway of gateways) requireNoted(rows, gateway);
}

/** Whoever forgets an operation last removes its row. A start would bring it back. */
function requireRemembered(rows: ReadonlyMap<string, SavedOp>, gateways: readonly VirtualGateway[]): void {
  if (gateways.length === 0 || gateways.some(({ gov }) => gov.ops.hasRowsToRemove)) return;
  for (const [name, { agent: id, opId }] of rows) {
    const isKnownTo = ({ gov }: VirtualGateway) => {
      const agent = gov.directory.find(id);
      return agent !== undefined && gov.ops.find(agent, opId) !== undefined;
    };
    if (!gateways.some(isKnownTo)) throw new Broken(`the store has a row of ${name}, which no gateway remembers`);
  }
}

function rowText(row: SavedOp | undefined): string {
  if (row === undefined) return 'is missing';
  const { seq: _, ...record } = row;
  return textOf(record);
}

/** Each gateway knows which operations have no row, or an old one. Otherwise it says that a start needs no entries for them. */
function requireNoted(rows: ReadonlyMap<string, SavedOp>, { name, gov }: VirtualGateway): void {
  const unsaved = new Set<Op>();
  for (const [op] of gov.ops.unsaved()) unsaved.add(op);
  for (const agent of gov.directory.all()) {
    for (const op of gov.ops.of(agent)) {
      if (op.state === 'completing' || op.state === 'terminated') continue;
      const about = opName(agentName(agent.record.id), op.opId);
      // Such an operation never gets a row.
      if (op.seq === 0) throw new Broken(`${name} does not know the entry of ${about}`);
      if (unsaved.has(op)) continue;
      const { control, stale: _, ...record } = recordOf(op);
      const [is, isSaved] = [textOf({ ...record, controlId: control?.id ?? null }), rowText(rows.get(about))];
      if (is !== isSaved) throw new Broken(`${name} takes ${about} for saved. It is ${is}, and its row ${isSaved}`);
    }
  }
}
