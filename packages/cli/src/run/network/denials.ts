import type { Answer } from '@reeve/sdk';
import type { Destination } from './destination.ts';

/** More destinations than this are not told to the person. A program may try any number. */
const mostTold = 20;

/** Tells the person of each destination that was denied, once. The program is told each time. */
export class Denials {
  readonly #say: (line: string) => void;
  readonly #told = new Set<string>();

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  tell({ host, port }: Pick<Destination, 'host' | 'port'>, answer: Answer): void {
    const what = `${host} port ${port}`;
    if (this.#told.has(what) || this.#told.size > mostTold) return;
    this.#told.add(what);
    if (this.#told.size <= mostTold) this.#say(`a connection to ${what} is refused: ${denialText(answer)}`);
    else this.#say('more connections were denied, which are not shown; the gateway has them on record');
  }
}

export function denialText({ decision, policyRule, reason, approvalId, source }: Answer): string {
  if (decision === 'pending') return `still waiting for an approval (${approvalId ?? reason})`;
  return source === 'sdk' ? `denied, as no gateway answers: ${reason}` : `denied by ${policyRule}: ${reason}`;
}
