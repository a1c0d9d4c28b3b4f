import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentId, checkOf, rawCheck, useTool } from '../testkit/requests.ts';
import { action } from './action.ts';
import type { RawCheckRequest } from './check-request.ts';
import { mostArgumentValues, parseCheckRequest } from './check-request.ts';

const acmeBot = agentId('acme/search/bot');
const idRule = '1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit';
const traceRule = 'must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-" (or leave both ids empty)';
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

/** The most that one action may cost. */
const mostMicros = 2_500_000;

const refused: readonly (readonly [string, Partial<RawCheckRequest>, string])[] = [
  ['no agent', { agentId: undefined }, 'agent_id.agent_id: must not be empty'],
  ['a blank agent', { agentId: agentId('acme/search/') }, 'agent_id.agent_id: must not be empty'],
  ['an agent with a slash', { agentId: { ...acmeBot, agentId: 'a/b' } }, `agent_id.agent_id: must be ${idRule}`],
  [
    'an agent that starts with a dot',
    { agentId: { ...acmeBot, agentId: '.bot' } },
    `agent_id.agent_id: must be ${idRule}`,
  ],
  [
    'an agent that is too long',
    { agentId: { ...acmeBot, agentId: 'a'.repeat(129) } },
    `agent_id.agent_id: must be ${idRule}`,
  ],
  ['an agent with a line break', { agentId: { ...acmeBot, agentId: 'bot\n' } }, `agent_id.agent_id: must be ${idRule}`],
  ['an org with a space', { agentId: { ...acmeBot, orgId: 'a b' } }, `agent_id.org_id: must be empty or ${idRule}`],
  ['a team with a colon', { agentId: { ...acmeBot, teamId: 'a:b' } }, `agent_id.team_id: must be empty or ${idRule}`],
  ['a trace without a span', { traceId: 't' }, `span_id: ${traceRule}`],
  ['a span without a trace', { spanId: 's' }, `trace_id: ${traceRule}`],
  ['a trace with a colon', { traceId: 't:x', spanId: 's' }, `trace_id: ${traceRule}`],
  ['a trace with a line break', { traceId: 't\n', spanId: 's' }, `trace_id: ${traceRule}`],
  ['a span that is too long', { traceId: 't', spanId: 's'.repeat(129) }, `span_id: ${traceRule}`],
  ['a span with a letter of elsewhere', { traceId: 't', spanId: 'ß' }, `span_id: ${traceRule}`],
  ['a caller with a blank agent', { caller: agentId('acme/search/') }, 'caller_agent_id.agent_id: must not be empty'],
  [
    'a caller with a bad org',
    { caller: { ...acmeBot, orgId: '!' } },
    `caller_agent_id.org_id: must be empty or ${idRule}`,
  ],
  ['a negative cost', { estimatedCostMicros: -1 }, 'estimated_cost_micros: must not be negative'],
  [
    'a cost beyond counting',
    { estimatedCostMicros: Number.MAX_SAFE_INTEGER + 1 },
    'estimated_cost_micros: must be at most 2500000 (2.50 USD)',
  ],
  [
    'a cost above what one action may cost',
    { estimatedCostMicros: mostMicros + 1 },
    'estimated_cost_micros: must be at most 2500000 (2.50 USD)',
  ],
  [
    'a fraction of a micro-dollar',
    { estimatedCostMicros: 0.5 },
    'estimated_cost_micros: must be a whole number of micro-dollars',
  ],
  ['a long run id', { runId: 'r'.repeat(129) }, 'run_id: must be at most 128 characters'],
  [
    'a long name of a door',
    { via: { door: 'hook', name: 'n'.repeat(513) } },
    'via.name: must be at most 512 characters',
  ],
  ...['[]', '"x"', 'null', '1', '{', '{}x'].map((annotations): [string, Partial<RawCheckRequest>, string] => [
    `annotations that are ${annotations}`,
    { action: action('tool_call', { annotations }) },
    'context.tool_call.annotations_json: must be a JSON object in UTF-8, or empty',
  ]),
  [
    'annotations of too many bytes',
    { action: action('tool_call', { annotations: `{"a":"${'é'.repeat(2045)}"}` }) },
    'context.tool_call.annotations_json: must be at most 4096 bytes',
  ],
  [
    'annotations that are nested too deeply',
    { action: action('tool_call', { annotations: `{"a":${nested(64)}}` }) },
    'context.tool_call.annotations_json: must not be nested deeper than 64',
  ],
  ['a long summary', { summary: 's'.repeat(8193) }, 'summary: must be at most 8192 characters'],
  ...(
    [
      ['tool_call', 'tool', 'tool_call.tool_name', 512],
      ['tool_call', 'source', 'tool_call.tool_source', 512],
      ['tool_call', 'url', 'tool_call.target_url', 8192],
      ['tool_result', 'tool', 'tool_result.tool_name', 512],
      ['tool_result', 'source', 'tool_result.tool_source', 512],
      ['tool_result', 'url', 'tool_result.source_url', 8192],
      ['llm_call', 'model', 'llm_call.model', 512],
      ['file_operation', 'operation', 'file_op.operation', 512],
      ['file_operation', 'path', 'file_op.path', 8192],
      ['network_call', 'host', 'network_call.host', 512],
      ['network_call', 'protocol', 'network_call.protocol', 512],
      ['process_exec', 'command', 'process_exec.command', 8192],
      ['agent_spawn', 'command', 'process_exec.command', 8192],
    ] as const
  ).map(([type, member, field, most]): [string, Partial<RawCheckRequest>, string] => [
    `a long ${field} of a ${type}`,
    { action: action(type, { [member]: 'x'.repeat(most + 1) }) },
    `context.${field}: must be at most ${most} characters`,
  ]),
  [
    'a command that is too long with its arguments',
    { action: action('process_exec', { command: 'x'.repeat(4000), commandArgs: ['y'.repeat(4000), 'z'.repeat(191)] }) },
    'context.process_exec.args: must be at most 8192 characters together with the command',
  ],
  [
    'negative prompt tokens',
    { action: action('llm_call', { model: 'm', promptTokens: -1 }) },
    'context.llm_call.prompt_tokens: must not be negative',
  ],
  [
    'negative output tokens',
    { action: action('llm_call', { model: 'm', maxOutputTokens: -1 }) },
    'context.llm_call.max_output_tokens: must not be negative',
  ],
  [
    'a negative port',
    { action: action('network_call', { host: 'h', port: -1 }) },
    'context.network_call.port: must be 0 to 65535',
  ],
  [
    'a port beyond the last',
    { action: action('network_call', { host: 'h', port: 65_536 }) },
    'context.network_call.port: must be 0 to 65535',
  ],
  [
    'arguments that are no JSON',
    { action: action('tool_call', { tool: 't', json: '{' }) },
    'context.tool_call.args_json: must be a JSON document in UTF-8, or empty',
  ],
  [
    'a result that is no JSON',
    { action: action('tool_result', { tool: 't', json: "{'a':1}" }) },
    'context.tool_result.result_json: must be a JSON document in UTF-8, or empty',
  ],
  [
    'arguments that are nested too deeply',
    { action: action('tool_call', { tool: 't', json: nested(65) }) },
    'context.tool_call.args_json: must not be nested deeper than 64',
  ],
];

test.each(refused)('%s is refused, with the field and what would be right', (_, members, message) => {
  expect(() => parseCheckRequest(rawCheck(members), mostMicros)).toThrow(
    expect.objectContaining({ code: 'invalid_argument', message, facts: { field: message.split(':')[0] } }),
  );
});

const accepted: readonly (readonly [string, Partial<RawCheckRequest>])[] = [
  ['an agent without org and team', { agentId: agentId('//bot') }],
  [
    'ids of the longest',
    { agentId: { orgId: 'o'.repeat(128), teamId: 't'.repeat(128), agentId: 'A1._-'.padEnd(128, 'x') } },
  ],
  ['neither trace nor span', { traceId: '', spanId: '' }],
  ['trace and span of the longest', { traceId: 'aZ09_-'.padEnd(128, 'x'), spanId: 's'.repeat(128) }],
  ['a cost of nothing', { estimatedCostMicros: 0 }],
  ['the largest cost', { estimatedCostMicros: mostMicros }],
  ['no cost', { estimatedCostMicros: null }],
  ['texts of the longest', { runId: 'r'.repeat(128), summary: 's'.repeat(4096) }],
  ['the first and last port', { action: action('network_call', { host: 'h', port: 65_535 }) }],
  ['arguments nested as deeply as may be', { action: action('tool_call', { tool: 't', json: nested(64) }) }],
  ['an action without any context', { action: action('agent_spawn') }],
];

test.each(accepted)('%s is accepted as it is', (_, members) => {
  const raw = rawCheck(members);
  expect(parseCheckRequest(raw, mostMicros)).toMatchObject(raw);
});

test.each([
  ['', undefined],
  ['{"a":[1]}', { a: [1] }],
  ['"text"', 'text'],
  ['null', null],
])('arguments %j are read as JSON', (json, args) => {
  expect(checkOf({ action: action('tool_call', { tool: 't', json }) }).args).toEqual(args);
});

test('whatever the arguments, they are read or refused: nothing else is thrown', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.nat({ max: 5000 }).map(nested)), (json) => {
      try {
        checkOf({ action: { ...useTool('t'), json } });
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_argument' });
      }
    }),
    { numRuns: 100 },
  );
});

describe('long arguments', () => {
  const long = (json: string) => checkOf(rawCheck({ action: action('tool_call', { tool: 'x', json }) }));
  const filler = 'x'.repeat(70_000);

  test('are checked at once and parsed when they are asked for', () => {
    const request = long(JSON.stringify({ filler, list: [1, 2] }));
    expect([request.args, request.argumentValues]).toEqual([{ filler, list: [1, 2] }, 5]);
    expect(() => long(`{"filler":"${filler}"`)).toThrow('must be a JSON document');
    expect(() => long(`{"filler":"${filler}","deep":${'['.repeat(70)}${']'.repeat(70)}}`)).toThrow('nested deeper');
  });

  test('may begin with the mark of the byte order', () => {
    expect(long(`\uFEFF${JSON.stringify({ filler })}`).args).toEqual({ filler });
  });

  test('with very many values are not looked at by conditions', () => {
    const request = long(`[${Array.from({ length: 120_000 }, () => '0').join()}]`);
    expect(request.argumentValues).toBeGreaterThan(mostArgumentValues);
  });
});
