import type { Decision, Outcome } from '@reeve/sdk';
import type { AgentName } from '../agent-identity/agent-name.ts';
import type { HookAction, PlannedAction } from './hook-event.ts';
import type { HostName } from './hook-host.ts';
import { DecodedFields, encodeFields } from './protobuf.ts';

/*
 * The messages that a hook exchanges, by the numbers of the contract, which never change. The contract's own codecs know
 * all messages and take longer to load than everything else that a hook does. A test holds these against them.
 */

/** Who asks, in which session. */
export interface Asker {
  readonly agentId: AgentName;
  readonly token: string;
  readonly host: HostName;
  /** The session, as the first part of operation ids and as the run. */
  readonly trace: string;
}

export interface CheckAnswer {
  readonly decision: Decision | undefined;
  readonly reason: string;
  readonly policyRule: string;
  readonly approvalId: string;
  readonly opId: string;
}

const longestSummary = 500;
const hookDoor = 3;
const actionTypes = { tool_call: 2, file_operation: 3, network_call: 4, process_exec: 5 } as const;
const outcomes: Readonly<Record<Outcome, number>> = { succeeded: 1, failed: 2, cancelled: 3 };
const decisions: readonly (Decision | undefined)[] = [undefined, 'allow', 'deny', 'pending'];

function agentBytes({ orgId, teamId, agentId }: AgentName): Buffer {
  return encodeFields([
    [1, orgId],
    [2, teamId],
    [3, agentId],
  ]);
}

/** `CheckActionRequest`, as the SDK would send it. */
export function checkRequest(asker: Asker, span: string, { action, note = '' }: PlannedAction): Buffer {
  return encodeFields([
    [1, agentBytes(asker.agentId)],
    [2, asker.token],
    [3, asker.trace],
    [4, span],
    [5, actionTypes[action.type ?? 'tool_call']],
    [6, contextBytes(action)],
    [21, asker.trace],
    [22, note.slice(0, longestSummary)],
    [
      23,
      encodeFields([
        [1, hookDoor],
        [2, asker.host],
      ]),
    ],
  ]);
}

function contextBytes(action: HookAction): Buffer {
  switch (action.type) {
    case 'process_exec': {
      // An empty argument is an argument too.
      const args = (action.args ?? []).map((arg) => [2, Buffer.from(arg)] as const);
      return encodeFields([[5, encodeFields([[1, action.command], ...args, [3, action.workingDir]])]]);
    }
    case 'file_operation':
      return encodeFields([
        [
          3,
          encodeFields([
            [1, action.operation],
            [2, action.path],
          ]),
        ],
      ]);
    case 'network_call':
      return encodeFields([
        [
          4,
          encodeFields([
            [1, action.host],
            [2, action.port],
            [3, action.protocol],
          ]),
        ],
      ]);
    case undefined:
    case 'tool_call':
      return encodeFields([
        [
          2,
          encodeFields([
            [1, action.tool],
            [2, action.source],
            [3, JSON.stringify(action.args ?? {})],
          ]),
        ],
      ]);
  }
}

export function batchRequest(requests: readonly Uint8Array[]): Buffer {
  return encodeFields(requests.map((request) => [1, request] as const));
}

export function readCheckAnswer(bytes: Uint8Array): CheckAnswer {
  const fields = new DecodedFields(bytes);
  return {
    decision: decisions[fields.number(1)],
    reason: fields.text(2),
    policyRule: fields.text(3),
    approvalId: fields.text(4),
    opId: fields.text(20),
  };
}

export function readBatchAnswers(bytes: Uint8Array): readonly CheckAnswer[] {
  return new DecodedFields(bytes).messages(1).map(readCheckAnswer);
}

/** `CompleteActionRequest`. */
export function completeRequest(
  { agentId, token, trace }: Asker,
  span: string,
  outcome: Outcome,
  detail: string,
): Buffer {
  return encodeFields([
    [1, agentBytes(agentId)],
    [2, token],
    [3, `${trace}:${span}`],
    [5, outcomes[outcome]],
    [6, detail],
  ]);
}

export function identifyRequest(token: string): Buffer {
  return encodeFields([[1, token]]);
}

export function readIdentity(bytes: Uint8Array): AgentName | undefined {
  const [agent] = new DecodedFields(bytes).messages(1);
  if (agent === undefined) return undefined;
  const fields = new DecodedFields(agent);
  return { orgId: fields.text(1), teamId: fields.text(2), agentId: fields.text(3) };
}
