import type { GovernOptions } from '@reeve/proxy/mcp';
import { flag, number } from '../command-line/values.ts';
import { cleanLines } from '../output/clean-text.ts';
import type { Shell } from '../shell.ts';

/** The options of commands that govern calls of tools. */
export const governOptions = {
  approvalWait: number(
    'SECONDS',
    'How long a call waits for an approval. Default 50, below the limit of most clients.',
    {
      min: 0,
      max: 86_400,
    },
  ),
  showDenied: flag('Keep tools in lists although policy denies them whatever the arguments.'),
  failOpen: flag('Let calls pass without a decision while the gateway is out of reach. Each is named on stderr.'),
};

/** Servers have a say in some lines. */
const longestLine = 2048;

interface Given {
  readonly approvalWait: number | undefined;
  readonly showDenied: boolean;
  readonly failOpen: boolean;
}

export function governing(shell: Shell, { approvalWait = 50, showDenied, failOpen }: Given): GovernOptions {
  const warn = (line: string) => {
    const shown = cleanLines(line.slice(0, longestLine)).replaceAll('\n', ' ');
    shell.stderr.write(`reeve mcp: ${shown}\n`);
  };
  return { approvalWaitMs: approvalWait * 1000, showDenied, failOpen, warn };
}
