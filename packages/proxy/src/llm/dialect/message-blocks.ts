import { numberFaultIn } from '@reeve/contract/exact-numbers';
import type { Members } from '../results/tool-message.ts';
import { argsOf, listIn } from '../results/tool-message.ts';
import type { Growing } from './accumulate.ts';
import { accumulate } from './accumulate.ts';
import { namedEvent, OddStream } from './stream-form.ts';

/** Adds what a delta brings to its block. */
export function grow(block: Growing | undefined, { type: _type, citation, ...parts }: Members): void {
  if (block === undefined) throw new OddStream('a part is of no block');
  accumulate(block, citation === undefined ? parts : { ...parts, citations: [citation] });
}

/** The input of a tool comes as parts of a JSON text. One with a number that a parser changes stays a text. */
export function withInput({ partial_json: written, ...block }: Members): Members {
  if (typeof written !== 'string') return block;
  return { ...block, input: numberFaultIn(written) === undefined ? argsOf(written) : written };
}

/** What the delta of a block of each type brings, and the member that it fills. */
const filled = [
  ['text', 'text_delta'],
  ['thinking', 'thinking_delta'],
  ['signature', 'signature_delta'],
] as const;

export function startOfBlock(block: Members, index: number): string {
  const { input, citations: _citations, ...others } = block;
  const parts = filled.filter(([name]) => typeof block[name] === 'string');
  const empty = Object.fromEntries(parts.map(([name]) => [name, '']));
  const start = { ...others, ...empty, ...(input === undefined ? {} : { input: {} }) };
  return namedEvent({ type: 'content_block_start', index, content_block: start });
}

export function deltaOfBlock(name: 'text' | 'thinking', text: string, index: number): string {
  return namedEvent({ type: 'content_block_delta', index, delta: { type: `${name}_delta`, [name]: text } });
}

/** What follows the start of a block. Texts of which nothing is left say nothing. */
export function* restOfBlock(block: Members, index: number, isMasked: boolean): Iterable<string> {
  const { input, citations } = block;
  const parts = filled.filter(([name]) => typeof block[name] === 'string');
  const deltas: Members[] = parts.map(([name, type]) => ({ type, [name]: block[name] }));
  if (input !== undefined) {
    const text = typeof input === 'string' ? input : JSON.stringify(input);
    deltas.push({ type: 'input_json_delta', partial_json: text });
  }
  // They quote what a mask may have changed.
  for (const citation of isMasked ? [] : listIn(citations)) deltas.push({ type: 'citations_delta', citation });
  for (const delta of deltas) yield namedEvent({ type: 'content_block_delta', index, delta });
  yield namedEvent({ type: 'content_block_stop', index });
}
