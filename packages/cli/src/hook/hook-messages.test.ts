import {
  ActionType,
  CheckActionRequest,
  CheckActionResponse,
  CompleteActionRequest,
  Decision,
  Via_Door,
} from '@reeve/contract';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HookAction } from './hook-event.ts';
import type { Asker } from './hook-messages.ts';
import { checkAnswer, checkRequest, completeRequest } from './hook-messages.ts';

const asker: Asker = {
  agentId: { orgId: 'acme', teamId: '', agentId: 'ada' },
  token: 'rva_x',
  host: 'codex',
  subjectToken: () => undefined,
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

test('checks say who asks, in which session and by which door, and what would be done', () => {
  fc.assert(
    fc.property(action, text, (given, note) => {
      const sent = CheckActionRequest.encode(checkRequest(asker, 'a-2', { action: given, note }, false)).finish();
      const read = CheckActionRequest.decode(sent);
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

test('an empty argument is an argument, too', () => {
  const planned = { action: { type: 'process_exec', command: 'ls', args: [''] } } as const;
  const { context, actionType, canRewrite } = CheckActionRequest.decode(
    CheckActionRequest.encode(checkRequest(asker, 'a', planned, true)).finish(),
  );
  expect(canRewrite).toBe(true);
  expect([context?.action?.value, actionType]).toEqual([
    { command: 'ls', args: [''], workingDir: '' },
    ActionType.PROCESS_EXEC,
  ]);
});

test('completions name the operation and how it ended, and no cost', () => {
  const sent = CompleteActionRequest.encode(completeRequest(asker, 'a', 'cancelled', 'over')).finish();
  const completed = CompleteActionRequest.decode(sent);
  expect(completed).toMatchObject({ opId: 's-1:a', outcome: 3, detail: 'over', agentId: asker.agentId });
  expect(completed.actualCostMicros).toBeUndefined();
});

test.each([
  [Decision.ALLOW, 'allow'],
  [Decision.DENY, 'deny'],
  [Decision.PENDING, 'pending'],
  [Decision.DECISION_UNSPECIFIED, undefined],
  [7 as Decision, undefined],
])('the decision %s is read as %s', (decision, name) => {
  const said = { decision, reason: 'because', policyRule: 'a/b', approvalId: 'apr_1', opId: 's-1:a' };
  const answer = { ...said, decisionLatencyUs: 2 ** 40, opState: 'running', limit: undefined, judgeResult: false };
  const read = CheckActionResponse.decode(CheckActionResponse.encode(answer).finish());
  expect(checkAnswer(read)).toEqual({ ...said, decision: name, judgesResult: false, args: undefined });
});

test('an answer without content decides nothing', () => {
  expect(checkAnswer(CheckActionResponse.decode(new Uint8Array())).decision).toBeUndefined();
});
