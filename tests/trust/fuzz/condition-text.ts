import type { Chance } from '../chance.ts';

const names = [
  'agent.org_id',
  'agent.team_id',
  'agent.agent_id',
  'agent.name',
  'agent.metadata',
  'agent.depth',
  'action.type',
  'action.tool',
  'action.path',
  'action.host',
  'action.cost_usd',
  'args',
  'args.text',
  'args.list',
  'args.deep.er',
  'run.id',
  'run.checks',
  'run.spent_usd',
  'spend.agent.day_usd',
  'spend.org.month_usd',
  'now',
  'x',
] as const;
const literals = [
  '0',
  '1',
  '-1',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '1u',
  '1.5',
  '1e308',
  '1e400',
  '0x7f',
  'true',
  'false',
  'null',
  '""',
  '"a"',
  "'ü\\u0000'",
  'r"\\d+"',
  'b"\\xff"',
  '"""long"""',
  '"(a+)+$"',
  '"[[:alpha:]]{1,1000}"',
  '"Europe/Berlin"',
  '"2026-11-15T12:00:00Z"',
  '"10h"',
  '[]',
  '{}',
  '[1, 2.0, "a"]',
  '{"a": 1}',
] as const;
const operators = ['==', '!=', '<', '<=', '>', '>=', '&&', '||', '+', '-', '*', '/', '%', 'in'] as const;
const functions = ['size', 'int', 'double', 'string', 'bool', 'dyn', 'type', 'timestamp', 'duration', 'has'] as const;
const methods = [
  'size',
  'contains',
  'startsWith',
  'endsWith',
  'matches',
  'indexOf',
  'lastIndexOf',
  'substring',
  'lowerAscii',
  'upperAscii',
  'trim',
  'split',
  'join',
  'getHours',
  'getDayOfWeek',
  'getFullYear',
] as const;
const macros = ['all', 'exists', 'exists_one', 'map', 'filter'] as const;

/** A random CEL expression. Most parse, and some have a valid type. */
export function conditionText(chance: Chance, depth = 1 + chance.below(6)): string {
  if (depth === 0) return chance.happens(0.6) ? chance.oneOf(names) : chance.oneOf(literals);
  const inner = () => conditionText(chance, chance.below(depth));
  switch (chance.below(8)) {
    case 0:
    case 1:
      return `${inner()} ${chance.oneOf(operators)} ${inner()}`;
    case 2:
      return `(${inner()})`;
    case 3:
      return `${chance.oneOf(['!', '-'] as const)}${inner()}`;
    case 4:
      return `${chance.oneOf(functions)}(${inner()})`;
    case 5: {
      const operands = Array.from({ length: chance.below(3) }, inner).join(', ');
      return `${inner()}.${chance.oneOf(methods)}(${operands})`;
    }
    case 6:
      return `${inner()}.${chance.oneOf(macros)}(x, ${inner()})`;
    default:
      return chance.oneOf([
        () => `${inner()} ? ${inner()} : ${inner()}`,
        () => `[${inner()}, ${inner()}]`,
        () => `{${inner()}: ${inner()}}`,
        () => `${inner()}[${inner()}]`,
        () => `${inner()}.${chance.oneOf(['a', 'text', '__proto__', 'constructor', 'length'] as const)}`,
      ] as const)();
  }
}
