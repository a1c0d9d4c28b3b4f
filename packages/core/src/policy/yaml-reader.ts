import type { PolicyPlace, PolicyProblem } from './document.ts';
import type { Document, Node } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, isCollection, isNode, isPair } from 'yaml';

/** A member of a YAML mapping: its name and its value, each with its place in the source. */
export interface Member {
  readonly name: string;
  readonly nameNode: Node;
  readonly value: Node | undefined;
}

/**
 * How many members and list items of one source are read: more than any text has by itself. Aliases multiply parts, and
 * a short text could keep everybody waiting.
 */
function mostPartsOf(source: string): number {
  return Math.max(5000, source.length / 4);
}

/** How many problems of one source are reported. A short text can have very many. */
const mostProblems = 1000;

/** Reads YAML by its syntax tree, so that every problem has a line and a column. */
export class YamlReader {
  readonly problems: PolicyProblem[] = [];
  readonly documents: readonly Document.Parsed[];
  readonly #file: string;
  readonly #lines = new LineCounter();
  readonly #targets = new Map<Document.Parsed, ReadonlyMap<Node, Node>>();
  #left: number;

  constructor(file: string, source: string) {
    this.#file = file;
    this.#left = mostPartsOf(source);
    // This reader checks for duplicate keys: the parser would compare each key with each.
    const options = { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: false };
    const parsed = parseAllDocuments(source, options);
    this.documents = Array.isArray(parsed) ? parsed : [];
    for (const document of this.documents) {
      for (const error of [...document.errors, ...document.warnings]) this.#complainAt(error.pos[0], error.message);
    }
  }

  /** Where a node begins. Lines and columns count from 1. */
  place(node: Node | undefined): { readonly line: number; readonly column: number } {
    return this.#placeOf(node?.range?.[0] ?? 0);
  }

  complain(node: Node | undefined, message: string, offset = 0): void {
    this.#complainAt((node?.range?.[0] ?? 0) + offset, message);
  }

  /** The place of a node, for a problem that only shows when all sources are known. */
  placeOf(node: Node | undefined): PolicyPlace {
    return { file: this.#file, ...this.place(node) };
  }

  /** The members of a mapping. If the node is none, undefined and a problem. */
  members(document: Document.Parsed, node: Node | undefined, what: string): Member[] | undefined {
    const map = this.#resolve(document, node);
    if (!isMap(map)) {
      this.complain(node, `${what} must be a mapping`);
      return undefined;
    }
    if (!this.#mayRead(node, map.items.length)) return undefined;
    const names = new Set<string>();
    return map.items.map((pair) => {
      const nameNode = pair.key as Node;
      const name = isScalar(nameNode) ? String(nameNode.value) : '';
      if (names.has(name)) this.complain(nameNode, 'Map keys must be unique');
      names.add(name);
      const value = (pair.value ?? undefined) as Node | undefined;
      return { name, nameNode, value: this.#resolve(document, value) ?? value };
    });
  }

  items(document: Document.Parsed, node: Node | undefined, what: string): Node[] | undefined {
    const list = this.#resolve(document, node);
    if (!isSeq(list)) {
      this.complain(node, `${what} must be a list`);
      return undefined;
    }
    if (!this.#mayRead(node, list.items.length)) return undefined;
    return list.items.map((item) => this.#resolve(document, item as Node) ?? (item as Node));
  }

  text(node: Node | undefined, what: string): string | undefined {
    if (isScalar(node) && typeof node.value === 'string' && node.value !== '') return node.value;
    this.complain(node, `${what} must be a text that is not empty`);
    return undefined;
  }

  flag(node: Node | undefined, what: string): boolean | undefined {
    if (isScalar(node) && typeof node.value === 'boolean') return node.value;
    this.complain(node, `${what} must be true or false`);
    return undefined;
  }

  choice<Choice extends string>(node: Node | undefined, what: string, choices: readonly Choice[]): Choice | undefined {
    const value = isScalar(node) ? node.value : undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) this.complain(node, `${what} must be ${oneOf(choices)}`);
    return found;
  }

  unknown(member: Member, what: string, known: readonly string[]): void {
    this.complain(member.nameNode, `unknown key "${member.name}" in ${what}; known: ${known.join(', ')}`);
  }

  #mayRead(node: Node | undefined, parts: number): boolean {
    const before = this.#left;
    this.#left -= parts;
    if (this.#left >= 0) return true;
    if (before >= 0) this.complain(node, 'too much is repeated by aliases up to here; write it in fewer rules');
    return false;
  }

  #complainAt(offset: number, message: string): void {
    if (this.problems.length < mostProblems)
      this.problems.push({ file: this.#file, ...this.#placeOf(offset), message });
  }

  #placeOf(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  #resolve(document: Document.Parsed, node: Node | undefined): Node | undefined {
    if (!isAlias(node)) return node;
    const targets = this.#targets.get(document) ?? aliasTargets(document);
    this.#targets.set(document, targets);
    return targets.get(node);
  }
}

export function oneOf(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `"${choice}"`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}

/**
 * What each alias of a document stands for: the last node before it with that anchor. One walk finds all, because the
 * parser's own look-up scans the whole document for each.
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
