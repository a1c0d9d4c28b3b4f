import { floorExits } from '../floor-error.ts';
import type { ProgramData } from './executable.ts';
import type { Step } from './steps.ts';

const standardError = 2;

/** Ends the program if the call before has failed. */
export function unlessDone(what: string, data: ProgramData): Step {
  const message = `reeve run: ${what}\n`;
  return {
    do: 'if error',
    steps: [
      { do: 'call', name: 'write', args: [standardError, data.text(message), message.length] },
      { do: 'call', name: 'exit_group', args: [floorExits.refused] },
    ],
  };
}
