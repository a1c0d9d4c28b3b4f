import { ActionType } from '@reeve/contract';
import { expect, test } from 'vitest';
import type { Action } from './action.ts';
import { wireActionOf } from './convert-action.ts';
import { ReeveInvalidRequest } from './errors.ts';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

test.each<[Action, ActionType, unknown]>([
  [
    { tool: 'search', args: { q: 'x' } },
    ActionType.TOOL_CALL,
    { $case: 'toolCall', value: { toolName: 'search', toolSource: '', argsJson: json({ q: 'x' }), targetUrl: '' } },
  ],
  [
    { type: 'tool_call', tool: 'fetch', source: 'mcp', url: 'https://a.example' },
    ActionType.TOOL_CALL,
    {
      $case: 'toolCall',
      value: { toolName: 'fetch', toolSource: 'mcp', argsJson: new Uint8Array(), targetUrl: 'https://a.example' },
    },
  ],
  [
    { type: 'llm_call', model: 'm', promptTokens: 3, maxOutputTokens: 4 },
    ActionType.LLM_CALL,
    { $case: 'llmCall', value: { model: 'm', promptTokens: 3, maxOutputTokens: 4 } },
  ],
  [
    { type: 'file_operation', operation: 'read', path: '/etc/hosts' },
    ActionType.FILE_OPERATION,
    { $case: 'fileOp', value: { operation: 'read', path: '/etc/hosts' } },
  ],
  [
    { type: 'network_call', host: 'a.example', port: 443, protocol: 'https' },
    ActionType.NETWORK_CALL,
    { $case: 'networkCall', value: { host: 'a.example', port: 443, protocol: 'https' } },
  ],
  [
    { type: 'process_exec', command: 'ls', args: ['-l'], workingDir: '/srv' },
    ActionType.PROCESS_EXEC,
    { $case: 'processExec', value: { command: 'ls', args: ['-l'], workingDir: '/srv' } },
  ],
  [{ type: 'agent_spawn' }, ActionType.AGENT_SPAWN, undefined],
  [
    { type: 'agent_spawn', command: 'node' },
    ActionType.AGENT_SPAWN,
    { $case: 'processExec', value: { command: 'node', args: [], workingDir: '' } },
  ],
  [
    { type: 'tool_result', tool: 'search', result: [1] },
    ActionType.TOOL_RESULT,
    { $case: 'toolResult', value: { toolName: 'search', toolSource: '', resultJson: json([1]), sourceUrl: '' } },
  ],
])('%j', (action, actionType, described) => {
  const wire = wireActionOf(action);
  expect(wire.actionType).toBe(actionType);
  expect(wire.context.action).toEqual(described);
});

const circle: { self?: unknown } = {};
circle.self = circle;

test.each<[string, unknown, string]>([
  ['an unknown type', { type: 'dance' }, 'action.type: must be one of'],
  ['a type out of the prototype', { type: 'constructor' }, 'action.type: must be one of'],
  ['no tool', {}, 'action.tool: must be a non-empty text'],
  ['half a token', { type: 'llm_call', model: 'm', promptTokens: 1.5 }, 'action.promptTokens: must be a whole number'],
  ['a port too far', { type: 'network_call', host: 'h', port: 65_536 }, 'action.port: must be a whole number from 0'],
  ['arguments in a circle', { tool: 't', args: circle }, 'action.args: cannot be written as JSON'],
  ['a function for an argument', { tool: 't', args: () => 1 }, 'action.args: cannot be written as JSON'],
  ['a bigint', { type: 'tool_result', tool: 't', result: 1n }, 'action.result: cannot be written as JSON'],
  ['arguments of no command', { type: 'agent_spawn', args: ['x'] }, 'action.command: must be a non-empty text'],
])('%s is refused by name', (_, action, message) => {
  expect(() => wireActionOf(action as Action)).toThrow(message);
  expect(() => wireActionOf(action as Action)).toThrow(ReeveInvalidRequest);
});

test.each([
  [{ n: Number.NaN }, 'NaN'],
  [{ n: [1, { m: Number.NEGATIVE_INFINITY }] }, '-Infinity'],
  [{ n: null, m: Number.POSITIVE_INFINITY }, 'Infinity'],
])('arguments with a number that JSON does not hold are refused: %j', (args, number) => {
  expect(() => wireActionOf({ tool: 'pay', args })).toThrow(`action.args: the number ${number} is not the same`);
  expect(() => wireActionOf({ tool: 'pay', annotations: args })).toThrow(/^action.annotations: the number/);
});

test('arguments that write a number as no double are refused', () => {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  expect(() => wireActionOf({ tool: 'pay', args: { n: rawJSON('12345678901234567') } })).toThrow(ReeveInvalidRequest);
  expect(() => wireActionOf({ tool: 'pay', args: { n: null, m: [0.1, -0, 1e300] } })).not.toThrow();
});
