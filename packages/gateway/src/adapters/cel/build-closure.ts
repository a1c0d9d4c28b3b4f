import { ConditionError } from '@reeve/core';
import { add, divide, multiply, negate, remainder, subtract } from './arithmetic.ts';
import { buildLoop } from './build-loop.ts';
import { equal, isIn, order } from './compare.ts';
import type { BinaryOperator, Expression } from './expression.ts';
import { readerOf } from './fact-members.ts';
import { Fault, fault, isOutweighable, weightier } from './faults.ts';
import { operationOf } from './functions.ts';
import { matchesPattern, programFor } from './matches.ts';
import { Automaton } from './regex/automaton.ts';
import { PatternError } from './regex/pattern.ts';
import { duration, timestamp } from './time-functions.ts';
import { noSuchZone, timeZone } from './time-zone.ts';
import { clear, elementOf, mapKey, memberOf } from './values.ts';
import { priceOfFault, bool } from './closure.ts';
import type { Closure } from './closure.ts';

/** Throws a `ConditionError` where a function gets a literal that it does not take. */
export function buildClosure(expression: Expression): Closure {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'fact':
      return factOf(expression.name);
    case 'variable': {
      const { slot } = expression;
      return (frame) => clear(frame.variables[slot]);
    }
    case 'member':
      return buildMember(buildClosure(expression.of), expression.name);
    case 'has': {
      const { name } = expression;
      const of = buildClosure(expression.of);
      return (frame) => memberOf(of(frame), name) !== undefined;
    }
    case 'hasFact':
      return buildHasFact(expression.name);
    case 'index': {
      const of = buildClosure(expression.of);
      const key = buildClosure(expression.key);
      return (frame) => elementOf(of(frame), key(frame));
    }
    case 'list': {
      const items = expression.items.map(buildClosure);
      if (expression.items.every(({ kind }) => kind === 'literal')) return constant(expression.items.map(valueOf));
      return (frame) => items.map((item) => item(frame));
    }
    case 'map': {
      const entries = expression.entries.map(([key, value]) => [buildClosure(key), buildClosure(value)] as const);
      return (frame) => {
        const made = new Map(entries.map(([key, value]) => [mapKey(key(frame)), value(frame)]));
        if (made.size < entries.length) throw fault('the map has the same key twice');
        return made;
      };
    }
    case 'all':
      return buildLogic(expression.operands.map(buildClosure), true);
    case 'any':
      return buildLogic(expression.operands.map(buildClosure), false);
    case 'not': {
      const operand = buildClosure(expression.operand);
      return (frame) => !bool(operand(frame), '"!"');
    }
    case 'negate': {
      const operand = buildClosure(expression.operand);
      return (frame) => negate(operand(frame));
    }
    case 'choice': {
      const condition = buildClosure(expression.condition);
      const ifTrue = buildClosure(expression.ifTrue);
      const ifFalse = buildClosure(expression.ifFalse);
      return (frame) => (bool(condition(frame), '"?"') ? ifTrue(frame) : ifFalse(frame));
    }
    case 'binary':
      return buildBinary(expression.operator, expression.left, expression.right);
    case 'call':
      return buildCall(expression);
    case 'loop':
      return buildLoop(expression, buildClosure);
    case 'bind': {
      const { slot } = expression;
      const value = buildClosure(expression.value);
      const body = buildClosure(expression.body);
      return (frame) => {
        frame.variables[slot] = value(frame);
        return body(frame);
      };
    }
  }
}

function constant(value: unknown): Closure {
  return () => value;
}

function valueOf(expression: Expression): unknown {
  return expression.kind === 'literal' ? expression.value : undefined;
}

function factOf(name: string): Closure {
  const read = readerOf(name);
  if (read === undefined) throw new Error(`there is no fact "${name}"`);
  return read;
}

function buildMember(of: Closure, name: string): Closure {
  return (frame) => {
    const value = memberOf(of(frame), name);
    if (value === undefined) throw fault(`there is no member "${name}"`);
    return clear(value);
  };
}

/** A fact that the action or agent lacks is empty or 0. Without a user, none of its members is there. */
function buildHasFact(name: string): Closure {
  const read = factOf(name);
  if (name === 'user.groups' || name === 'user.claims') return (frame) => Object.keys(Object(read(frame))).length > 0;
  return (frame) => {
    const value = read(frame);
    return value !== '' && value !== 0n && value !== 0;
  };
}

/** `&&` and `||`: an operand that decides outweighs an operand that fails, in either order. */
function buildLogic(operands: readonly Closure[], goesOn: boolean): Closure {
  return (frame) => {
    let failure: Error | undefined;
    for (const operand of operands) {
      try {
        if (bool(operand(frame), goesOn ? '"&&"' : '"||"') !== goesOn) return !goesOn;
      } catch (error) {
        if (!isOutweighable(error)) throw error;
        frame.charge(priceOfFault);
        failure = weightier(failure, error);
      }
    }
    if (failure !== undefined) throw failure;
    return goesOn;
  };
}

function buildBinary(operator: BinaryOperator, leftPart: Expression, rightPart: Expression): Closure {
  const left = buildClosure(leftPart);
  const right = buildClosure(rightPart);
  switch (operator) {
    case '==':
      return (frame) => equal(frame, left(frame), right(frame));
    case '!=':
      return (frame) => !equal(frame, left(frame), right(frame));
    case '<':
      return (frame) => order(frame, left(frame), right(frame)) < 0;
    case '<=':
      return (frame) => order(frame, left(frame), right(frame)) <= 0;
    case '>':
      return (frame) => order(frame, left(frame), right(frame)) > 0;
    case '>=':
      return (frame) => order(frame, left(frame), right(frame)) >= 0;
    case 'in':
      return buildIn(left, right, rightPart);
    case '+':
      return (frame) => add(frame, left(frame), right(frame));
    case '-':
      return (frame) => subtract(left(frame), right(frame));
    case '*':
      return (frame) => multiply(left(frame), right(frame));
    case '/':
      return (frame) => divide(left(frame), right(frame));
    case '%':
      return (frame) => remainder(left(frame), right(frame));
  }
}

/** A list of literal texts becomes a set, so no text is compared with each of them. */
function buildIn(left: Closure, right: Closure, of: Expression): Closure {
  const written = of.kind === 'list' ? of.items.map(valueOf).filter((value) => typeof value === 'string') : [];
  if (of.kind !== 'list' || written.length !== of.items.length) {
    return (frame) => isIn(frame, left(frame), right(frame));
  }
  const texts = new Set<unknown>(written);
  return (frame) => texts.has(left(frame));
}

function buildCall({ form, name, operands, offset }: Expression & { kind: 'call' }): Closure {
  const run = operationOf(form, name, operands.length);
  const [first, second, third] = operands.map(buildClosure);
  if (run === undefined || first === undefined) throw new Error(`there is no ${form} "${name}"`);
  const written = operands.at(-1);
  if (written?.kind === 'literal' && typeof written.value === 'string') {
    const made = atLoad(name, operands.length, written.value, first, offset, written.offset);
    if (made !== undefined) return made;
  }
  if (second === undefined) return (frame) => run(frame, first(frame));
  if (third === undefined) return (frame) => run(frame, first(frame), second(frame));
  return (frame) => run(frame, first(frame), second(frame), third(frame));
}

/** Literals are read once, so a wrong literal fails when the policy is loaded. */
function atLoad(
  name: string,
  operands: number,
  text: string,
  first: Closure,
  offset: number,
  literalOffset: number,
): Closure | undefined {
  try {
    if (name === 'timestamp') return constant(timestamp(text));
    if (name === 'duration') return constant(duration(text));
    if (name === 'matches') {
      const program = programFor(text);
      // Many patterns are stored and few ever run, so the automaton is made when it first runs.
      let pattern: Automaton | undefined;
      return (frame) => matchesPattern(frame, first(frame), (pattern ??= new Automaton(program)));
    }
    if (name.startsWith('get') && operands === 2) timeZone(text);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) throw new ConditionError(`bad pattern: ${error.message}`, literalOffset);
    if (error instanceof Fault) throw new ConditionError(error.message, offset);
    if (error instanceof RangeError) throw new ConditionError(noSuchZone, literalOffset);
    throw error;
  }
}
