import { agentText } from '../command-line/agent-path.ts';
import type { GlobalValues } from '../command-line/command.ts';
import type { Op } from '../commands/op-filters.ts';
import { controlText, stateText } from '../commands/ops-list.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { cleanText, escapeControls } from '../output/clean-text.ts';
import { dataText, note } from '../output/print.ts';
import type { Shell } from '../shell.ts';
import { onInterruption } from '../terminal/interruption.ts';
import { opKey } from './op-key.ts';
import type { OpFilter } from './watched-ops.ts';
import { watchOps } from './watched-ops.ts';

/** Operations as lines: what there is, then each change. */
export async function watchAsLines(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  filter: OpFilter,
): Promise<number> {
  using interruption = onInterruption();
  const shown = new Map<string, string>();
  const show = (op: Op) => {
    // A list after a gap repeats what is known.
    const mark = `${op.state} ${op.updated_at}`;
    if (shown.get(opKey(op)) === mark) return;
    shown.set(opKey(op), mark);
    shell.stdout.write(opText(globals, op));
    if (op.state === 'completing' || op.state === 'terminated')
      setTimeout(() => shown.delete(opKey(op)), 120_000).unref();
  };
  const listener = {
    onAll: (ops: readonly Op[]) => ops.toReversed().forEach(show),
    onChange: show,
    onConnection: (state: 'live' | 'lost', why?: string) => {
      if (state === 'lost') note(shell, `${why}. Connecting again.`);
    },
  };
  await watchOps(client, filter, listener, { signal: interruption.signal, timeoutMs: globals.timeout * 1000 });
  return 0;
}

function opText({ output }: GlobalValues, op: Op): string {
  if (output === 'json') return `${escapeControls(JSON.stringify(op))}\n`;
  if (output === 'yaml') return `---\n${dataText('yaml', op)}`;
  const cells = [
    op.updated_at,
    stateText(op).padEnd(10),
    agentText(op.agent),
    op.op_id,
    op.action_type ?? '-',
    op.resource,
    controlText(op),
  ];
  return `${cells
    .map((cell) => cleanText(cell))
    .join('  ')
    .trimEnd()}\n`;
}
