import { GlobError } from '../kernel/index.ts';
import { ConditionError } from './condition.ts';
import type { Node } from 'yaml';
import { isScalar } from 'yaml';

/** Where in the source of a text a part of it is wrong, counted from the beginning of its node. */
export function offsetInText(node: Node | undefined, error: unknown): number {
  if (!(error instanceof ConditionError || error instanceof GlobError) || !isOneLine(node)) return 0;
  const quote = isScalar(node) && node.type?.startsWith('QUOTE') === true ? 1 : 0;
  return quote + error.offset;
}

/** In a block, or with escapes, an offset in the text differs from the offset in the file. */
function isOneLine(node: Node | undefined): boolean {
  return isScalar(node) && typeof node.value === 'string' && node.source === node.value && !node.value.includes('\n');
}
