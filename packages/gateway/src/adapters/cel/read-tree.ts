import { ConditionError } from '@reeve/core';
import { checkedInt } from './arithmetic.ts';
import type { CelNode } from './cel-environment.ts';
import type { Expression, LoopMacro } from './expression.ts';
import type { ConditionOn } from './fact-members.ts';
import { membersOf, readerOf, variableNames } from './fact-members.ts';
import { isFunction, operationOf } from './functions.ts';
import type { TypeName } from './values.ts';
import { typeValue } from './values.ts';

/** Names that loops and `cel.bind` declare, with the slots of their values; the innermost comes last. */
type Scope = readonly { readonly name: string; readonly slot: number }[];

const loopMacros: readonly LoopMacro[] = ['all', 'exists', 'exists_one', 'map', 'filter'];

/** Names of types, as in `type(args.x) == string`. */
const typeNames: Readonly<Record<string, TypeName>> = {
  bool: 'bool',
  int: 'int',
  double: 'double',
  string: 'string',
  list: 'list',
  map: 'map',
  null_type: 'null',
  type: 'type',
};

/** Resolves every name in the parser's tree. Throws a `ConditionError` for an unknown name. */
export function readTree(root: CelNode, on: ConditionOn): Expression {
  return new TreeReader(variableNames[on]).read(root, []);
}

class TreeReader {
  readonly #variables: readonly string[];
  #slots = 0;

  constructor(variables: readonly string[]) {
    this.#variables = variables;
  }

  read(node: CelNode, scope: Scope): Expression {
    const offset = node.pos;
    switch (node.op) {
      case 'value':
        return { kind: 'literal', value: literal(node.args, offset), offset };
      case 'id':
      case '.':
        return this.#readName(node, scope);
      case '[]':
        return this.#readIndex(node.args, offset, scope);
      case 'list':
        return { kind: 'list', items: node.args.map((item) => this.read(item, scope)), offset };
      case 'map': {
        const entries = node.args.map(([key, value]) => [this.read(key, scope), this.read(value, scope)] as const);
        return { kind: 'map', entries, offset };
      }
      case '&&':
      case '||': {
        const operands = chain(node, node.op).map((operand) => this.read(operand, scope));
        return { kind: node.op === '&&' ? 'all' : 'any', operands, offset };
      }
      case '!_':
        return { kind: 'not', operand: this.read(node.args, scope), offset };
      case '-_':
        return this.#readNegative(node.args, offset, scope);
      case '?:': {
        const [condition, ifTrue, ifFalse] = node.args;
        return {
          kind: 'choice',
          condition: this.read(condition, scope),
          ifTrue: this.read(ifTrue, scope),
          ifFalse: this.read(ifFalse, scope),
          offset,
        };
      }
      case 'call':
        return this.#readCall(node.args, offset, scope);
      case 'rcall':
        return this.#readMethod(node.args, offset, scope);
      case '.?':
      case '[?]':
        throw new ConditionError('optional members are not available; use has()', offset);
      case '==':
      case '!=':
      case '<':
      case '<=':
      case '>':
      case '>=':
      case 'in':
      case '+':
      case '-':
      case '*':
      case '/':
      case '%':
        return {
          kind: 'binary',
          operator: node.op,
          left: this.read(node.args[0], scope),
          right: this.read(node.args[1], scope),
          offset,
        };
    }
  }

  /** A name, or a chain of members that starts with one. */
  #readName(node: CelNode & { op: 'id' | '.' }, scope: Scope): Expression {
    const offset = node.pos;
    const path = this.#factPath(node, scope);
    if (path !== undefined) return readFact(path, offset);
    if (node.op === '.') {
      const [of, name] = node.args;
      return { kind: 'member', of: this.read(of, scope), name, offset };
    }
    const variable = scope.findLast(({ name }) => name === node.args);
    if (variable !== undefined) return { kind: 'variable', slot: variable.slot, offset };
    const type = Object.hasOwn(typeNames, node.args) ? typeNames[node.args] : undefined;
    if (type !== undefined) return { kind: 'literal', value: typeValue(type), offset };
    throw new ConditionError(`unknown variable "${node.args}"; known: ${this.#variables.join(', ')}`, offset);
  }

  /**
   * The dotted name of a fact or of a variable with members. Undefined where the chain starts otherwise, or goes on below
   * a fact.
   */
  #factPath(node: CelNode, scope: Scope): string | undefined {
    if (node.op === 'id') {
      const isFact = this.#variables.includes(node.args) && !scope.some(({ name }) => name === node.args);
      return isFact ? node.args : undefined;
    }
    if (node.op !== '.') return undefined;
    const above = this.#factPath(node.args[0], scope);
    return above === undefined || readerOf(above) !== undefined ? undefined : memberPath(above, node.args[1], node.pos);
  }

  #readIndex([of, key]: readonly [CelNode, CelNode], offset: number, scope: Scope): Expression {
    const path = this.#factPath(of, scope);
    if (path !== undefined && readerOf(path) === undefined) {
      if (key.op === 'value' && typeof key.args === 'string') {
        return readFact(memberPath(path, key.args, key.pos), offset);
      }
      throw new ConditionError(`members of "${path}" are written out, as in ${example(path)}`, offset);
    }
    return { kind: 'index', of: this.read(of, scope), key: this.read(key, scope), offset };
  }

  /** The least int has no positive counterpart, so the sign belongs to the number. */
  #readNegative(operand: CelNode, offset: number, scope: Scope): Expression {
    if (operand.op === 'value' && typeof operand.args === 'bigint') {
      return { kind: 'literal', value: literal(-operand.args, offset), offset };
    }
    return { kind: 'negate', operand: this.read(operand, scope), offset };
  }

  #readCall([name, args]: readonly [string, readonly CelNode[]], offset: number, scope: Scope): Expression {
    const [first] = args;
    if (name === 'has' && first !== undefined && args.length === 1) return this.#readHas(first, offset, scope);
    // One pattern, one meaning: matches(text, pattern) is text.matches(pattern).
    return this.#call(name === 'matches' ? 'method' : 'function', name, args, offset, scope);
  }

  #readHas(node: CelNode, offset: number, scope: Scope): Expression {
    if (node.op !== '.') throw new ConditionError('has() takes a member, as in has(args.name)', offset);
    const path = this.#factPath(node, scope);
    if (path !== undefined) {
      readFact(path, offset);
      return { kind: 'hasFact', name: path, offset };
    }
    const [of, name] = node.args;
    return { kind: 'has', of: this.read(of, scope), name, offset };
  }

  #readMethod(
    [name, receiver, args]: readonly [string, CelNode, readonly CelNode[]],
    offset: number,
    scope: Scope,
  ): Expression {
    const macro = loopMacros.find((candidate) => candidate === name);
    if (macro !== undefined) return this.#readLoop(macro, receiver, args, offset, scope);
    if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel') return this.#readBind(args, offset, scope);
    return this.#call('method', name, [receiver, ...args], offset, scope);
  }

  #readLoop(
    macro: LoopMacro,
    receiver: CelNode,
    [variable, ...bodies]: readonly CelNode[],
    offset: number,
    scope: Scope,
  ): Expression {
    if (variable?.op !== 'id')
      throw new ConditionError(`${macro} names a variable first, as in ${macro}(x, …)`, offset);
    const slot = this.#slots++;
    const inner = [...scope, { name: variable.args, slot }];
    const read = (body: CelNode | undefined) => (body === undefined ? null : this.read(body, inner));
    const [first, second] = bodies;
    if (first === undefined || bodies.length > (macro === 'map' ? 2 : 1)) {
      throw new ConditionError(`${macro} takes a variable and an expression, as in ${macro}(x, …)`, offset);
    }
    const range = this.read(receiver, scope);
    if (macro !== 'map') return { kind: 'loop', macro, range, slot, test: read(first), result: null, offset };
    const [test, result] = second === undefined ? [undefined, first] : [first, second];
    return { kind: 'loop', macro, range, slot, test: read(test), result: read(result), offset };
  }

  #readBind([variable, value, body]: readonly CelNode[], offset: number, scope: Scope): Expression {
    if (variable?.op !== 'id' || value === undefined || body === undefined) {
      throw new ConditionError('cel.bind takes a name, a value and an expression, as in cel.bind(x, 1, x + x)', offset);
    }
    const slot = this.#slots++;
    const inner = [...scope, { name: variable.args, slot }];
    return { kind: 'bind', slot, value: this.read(value, scope), body: this.read(body, inner), offset };
  }

  #call(form: 'function' | 'method', name: string, args: readonly CelNode[], offset: number, scope: Scope): Expression {
    if (!isFunction(form, name)) throw new ConditionError(`there is no ${form} "${name}"`, offset);
    if (operationOf(form, name, args.length) === undefined) {
      throw new ConditionError(`the ${form} "${name}" takes another number of arguments`, offset);
    }
    return { kind: 'call', form, name, operands: args.map((arg) => this.read(arg, scope)), offset };
  }
}

/** `a && b && c` becomes three operands, so a long chain is not a deep tree. */
function chain(node: CelNode, operator: '&&' | '||'): CelNode[] {
  const operands: CelNode[] = [];
  let left = node;
  while (left.op === operator) {
    operands.unshift(left.args[1]);
    [left] = left.args;
  }
  return [left, ...operands];
}

function memberPath(above: string, name: string, offset: number): string {
  const known = membersOf(above);
  if (known.includes(name)) return `${above}.${name}`;
  throw new ConditionError(`"${above}" has no member "${name}"; known: ${known.join(', ')}`, offset);
}

function readFact(path: string, offset: number): Expression {
  if (readerOf(path) !== undefined) return { kind: 'fact', name: path, offset };
  throw new ConditionError(`"${path}" is used by its members, as in ${example(path)}`, offset);
}

function example(path: string): string {
  return `${path}.${membersOf(path)[0]}`;
}

function literal(value: unknown, offset: number): unknown {
  if (typeof value === 'object' && value !== null) {
    throw new ConditionError('bytes and unsigned numbers are not available; write "text" and 1', offset);
  }
  if (typeof value !== 'bigint') return value;
  try {
    return checkedInt(value);
  } catch {
    throw new ConditionError('the number does not fit into an int of 64 bits', offset);
  }
}
