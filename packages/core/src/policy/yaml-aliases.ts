import type { Document, Node } from 'yaml';
import { isAlias, isCollection, isNode, isPair } from 'yaml';

/**
 * What each alias of a document stands for: the last node before it with that anchor. All are found in one walk, as
 * the parser's own look-up goes through the whole document for each.
 */
export function aliasTargets({ contents }: Document.Parsed): ReadonlyMap<Node, Node> {
  const targets = new Map<Node, Node>();
  const anchored = new Map<string, Node>();
  const stack: unknown[] = [contents];
  while (stack.length > 0) {
    const part = stack.pop();
    if (isPair(part)) {
      stack.push(part.value, part.key);
    } else if (isAlias(part)) {
      const target = anchored.get(part.source);
      if (target !== undefined) targets.set(part, target);
    } else if (isNode(part)) {
      const { anchor } = part;
      if (anchor !== undefined) anchored.set(anchor, part);
      if (isCollection(part)) for (let at = part.items.length - 1; at >= 0; at--) stack.push(part.items[at]);
    }
  }
  return targets;
}
