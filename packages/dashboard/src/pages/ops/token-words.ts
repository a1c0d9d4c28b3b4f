import { formatCount } from '../../api/format.ts';
import type { Op } from './op.ts';

type Tokens = Pick<Op, 'input_tokens' | 'output_tokens' | 'cached_input_tokens'>;

/** What a model call used, in words. Undefined if nobody said. */
export function tokenWords({ input_tokens: input, output_tokens: output, cached_input_tokens: cached }: Tokens) {
  const parts = [
    ...(input === null ? [] : [`${formatCount(input)} in${cached === null ? '' : ` (${formatCount(cached)} cached)`}`]),
    ...(output === null ? [] : [`${formatCount(output)} out`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
