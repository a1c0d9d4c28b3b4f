import {
  ActionType,
  BatchCheckRequest,
  BatchCheckResponse,
  CheckActionRequest,
  CheckActionResponse,
  CompleteActionRequest,
  Decision,
  IdentifyAgentRequest,
  IdentifyAgentResponse,
  paths,
  Via_Door,
} from '@reeve/contract';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HookAction } from './hook-event.ts';
import type { Asker } from './hook-messages.ts';
import {
  batchRequest,
  checkRequest,
  completeRequest,
  identifyRequest,
  readBatchAnswers,
  readCheckAnswer,
  readIdentity,
} from './hook-messages.ts';
import { DecodedFields } from './protobuf.ts';

const asker: Asker = {
  agentId: { orgId: 'acme', teamId: '', agentId: 'ada' },
  token: 'rva_x',
  host: 'codex',
  trace: 's-1',
};

const text = fc.string({ unit: 'grapheme', maxLength: 300 });
const filled = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
const action: fc.Arbitrary<HookAction> = fc.oneof(
  fc.record({ type: fc.constant('process_exec' as const), command: filled, args: fc.array(text), workingDir: text }),
  fc.record({ type: fc.constant('file_operation' as const), operation: filled, path: filled }),
  fc.record({ type: fc.constant('network_call' as const), host: filled, port: fc.nat(65_535), protocol: text }),
  fc.record({ tool: filled, source: text, args: fc.object() }),
);

test('checks are what the contract reads', () => {
  fc.assert(
    fc.property(action, text, (given, note) => {
      const read = CheckActionRequest.decode(checkRequest(asker, 'a-2', { action: given, note }));
      expect(read).toMatchObject({ agentId: asker.agentId, credentialToken: 'rva_x', traceId: 's-1', spanId: 'a-2' });
      expect(read).toMatchObject({
        runId: 's-1',
        summary: note.slice(0, 500),
        via: { door: Via_Door.HOOK, name: 'codex' },
      });
      const value = read.context?.action?.value;
      if (given.type === 'process_exec') {
        const { command, args, workingDir } = given;
        expect(value).toEqual({ command, args, workingDir });
      } else if (given.type === 'file_operation')
        expect(value).toEqual({ operation: given.operation, path: given.path });
      else if (given.type === 'network_call') expect(value).toMatchObject({ host: given.host, port: given.port });
      else {
        expect(value).toMatchObject({ toolName: given.tool, toolSource: given.source });
        expect(read.actionType).toBe(ActionType.TOOL_CALL);
      }
    }),
  );
});

test('batches, completions and questions of identity are, too', () => {
  const one = checkRequest(asker, 'a', { action: { type: 'process_exec', command: 'ls', args: [''] } });
  const { requests } = BatchCheckRequest.decode(batchRequest([one, one]));
  expect(requests.map(({ context, actionType }) => [context?.action?.value, actionType])).toEqual([
    [{ command: 'ls', args: [''], workingDir: '' }, ActionType.PROCESS_EXEC],
    [{ command: 'ls', args: [''], workingDir: '' }, ActionType.PROCESS_EXEC],
  ]);
  const completed = CompleteActionRequest.decode(completeRequest(asker, 'a', 'cancelled', 'over'));
  expect(completed).toMatchObject({ opId: 's-1:a', outcome: 3, detail: 'over', agentId: asker.agentId });
  expect(completed.actualCostMicros).toBeUndefined();
  expect(IdentifyAgentRequest.decode(identifyRequest('rva_x'))).toEqual({ credentialToken: 'rva_x' });
});

test('answers are read as the contract writes them', () => {
  fc.assert(
    fc.property(
      text,
      text,
      fc.constantFrom(Decision.ALLOW, Decision.DENY, Decision.PENDING),
      (reason, opId, decision) => {
        const limit = { tier: 'org', period: 'day', limitMicros: 5e12, spentMicros: 1, status: 'LimitExceeded' };
        const answer = {
          decision,
          reason,
          policyRule: 'a/b',
          approvalId: 'apr_1',
          decisionLatencyUs: 2 ** 40,
          opId,
          opState: 'running',
          limit,
        };
        const names = ['', 'allow', 'deny', 'pending'];
        const wanted = { decision: names[decision], reason, policyRule: 'a/b', approvalId: 'apr_1', opId };
        expect(readCheckAnswer(CheckActionResponse.encode(answer).finish())).toEqual(wanted);
        const batch = BatchCheckResponse.encode({ responses: [answer, answer] }).finish();
        expect(readBatchAnswers(batch)).toEqual([wanted, wanted]);
      },
    ),
  );
  const agentId = { orgId: 'a', teamId: '', agentId: 'c' };
  expect(readIdentity(IdentifyAgentResponse.encode({ agentId, suspended: true }).finish())).toEqual(agentId);
});

test('bytes that are no message are an error or nothing, never an answer that allows', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        expect(new DecodedFields(bytes).number(1)).toBeGreaterThanOrEqual(0);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
  expect(() => readCheckAnswer(Uint8Array.from([0x12, 0x7f, 0x01]))).toThrow('ends early');
  expect(readCheckAnswer(new Uint8Array()).decision).toBeUndefined();
});

test('the methods are those of the contract', async () => {
  const source = await import('node:fs').then(({ readFileSync }) =>
    readFileSync(new URL('gateway-calls.ts', import.meta.url), 'utf8'),
  );
  for (const method of ['identifyAgent', 'checkAction', 'batchCheck', 'completeAction'] as const) {
    expect(source).toContain(`${method}: '${paths[method]}'`);
  }
});
