/** A condition as a tree: names are resolved, chains are flat. Offsets count from 0 in the condition's text. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: unknown; readonly offset: number }
  | { readonly kind: 'fact'; readonly name: string; readonly offset: number }
  | { readonly kind: 'variable'; readonly slot: number; readonly offset: number }
  | { readonly kind: 'member'; readonly of: Expression; readonly name: string; readonly offset: number }
  | { readonly kind: 'has'; readonly of: Expression; readonly name: string; readonly offset: number }
  | { readonly kind: 'hasFact'; readonly name: string; readonly offset: number }
  | { readonly kind: 'index'; readonly of: Expression; readonly key: Expression; readonly offset: number }
  | { readonly kind: 'list'; readonly items: readonly Expression[]; readonly offset: number }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[]; readonly offset: number }
  | { readonly kind: 'all'; readonly operands: readonly Expression[]; readonly offset: number }
  | { readonly kind: 'any'; readonly operands: readonly Expression[]; readonly offset: number }
  | { readonly kind: 'not' | 'negate'; readonly operand: Expression; readonly offset: number }
  | {
      readonly kind: 'choice';
      readonly condition: Expression;
      readonly ifTrue: Expression;
      readonly ifFalse: Expression;
      readonly offset: number;
    }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly offset: number;
    }
  | {
      readonly kind: 'call';
      /** A `method` has its receiver as first operand. */
      readonly form: 'function' | 'method';
      readonly name: string;
      readonly operands: readonly Expression[];
      readonly offset: number;
    }
  | {
      readonly kind: 'loop';
      readonly macro: LoopMacro;
      readonly range: Expression;
      readonly slot: number;
      /** The test of an element; null if there is none. */
      readonly test: Expression | null;
      /** The expression for the new element; null if the element stays as it is. */
      readonly result: Expression | null;
      readonly offset: number;
    }
  | {
      readonly kind: 'bind';
      readonly slot: number;
      readonly value: Expression;
      readonly body: Expression;
      readonly offset: number;
    };

export type BinaryOperator = '!=' | '==' | 'in' | '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=';
export type LoopMacro = 'all' | 'exists' | 'exists_one' | 'map' | 'filter';

/** How many parts an expression has, at all depths. */
export function sizeOf(expression: Expression): number {
  return childrenOf(expression).reduce((total, child) => total + sizeOf(child), 1);
}

/**
 * The expression and all of its parts, in the order of the text. Chains may be long, so each step has constant cost.
 */
export function* partsOf(expression: Expression): Generator<Expression> {
  const stack = [expression];
  for (let part = stack.pop(); part !== undefined; part = stack.pop()) {
    yield part;
    stack.push(...childrenOf(part).toReversed());
  }
}

function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'fact':
    case 'variable':
    case 'hasFact':
      return [];
    case 'member':
    case 'has':
      return [expression.of];
    case 'index':
      return [expression.of, expression.key];
    case 'list':
      return expression.items;
    case 'map':
      return expression.entries.flat();
    case 'all':
    case 'any':
    case 'call':
      return expression.operands;
    case 'not':
    case 'negate':
      return [expression.operand];
    case 'choice':
      return [expression.condition, expression.ifTrue, expression.ifFalse];
    case 'binary':
      return [expression.left, expression.right];
    case 'loop':
      return [expression.range, expression.test, expression.result].filter((child) => child !== null);
    case 'bind':
      return [expression.value, expression.body];
  }
}
