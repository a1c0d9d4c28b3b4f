import type { DelegateAgentRequest } from '@reeve/contract';
import { actionTypeNames, bounds } from '@reeve/contract';
import type { ActionType } from './action.ts';
import type { FullAgentId } from './agent-id.ts';
import { ReeveInternal } from './errors.ts';
import type { GatewayLink } from './gateway-link.ts';
import type { CallOptions } from './outage/retry.ts';
import type { ActingOptions } from './register-options.ts';
import { rpc } from './rpc-methods.ts';
import { usd } from './usd.ts';
import { requireText, requireWhole } from './validate.ts';

/** What a delegate may do at most, and until when. */
export interface DelegateOptions extends ActingOptions {
  /** The id of the delegate, in the org and team of whoever delegates. */
  readonly childId: string;
  /** How long it lasts, in seconds: 1 to 86,400. It ends no later than what its delegator acts by. */
  readonly ttl: number;
  /** Globs of the tools that it may call. Any, if left out or empty. */
  readonly tools?: readonly string[] | undefined;
  /** The types of actions that it may do. Any, if left out or empty. */
  readonly actions?: readonly ActionType[] | undefined;
  /** What all of it may cost. */
  readonly maxCostUsd?: string | number | undefined;
  /** How many checks it may make. Denied ones count. */
  readonly maxChecks?: number | undefined;
  /** How many agents may act for it in turn, at all depths. With 0 it cannot delegate. */
  readonly maxDelegates?: number | undefined;
  readonly name?: string | undefined;
}

function delegateRequest(by: FullAgentId, token: string, options: EnrollDelegateOptions): DelegateAgentRequest {
  const { childId, ttl, tools = [], actions = [], maxCostUsd, name = '', token: childToken } = options;
  return {
    agentId: { ...by },
    credentialToken: token,
    childId: requireText('childId', childId),
    ttlSecs: requireWhole('ttl', ttl, bounds.delegation.ttlSecs),
    actions: actions.map((type) => actionTypeNames.wireOf[type]),
    tools: [...tools],
    maxCostMicros: maxCostUsd === undefined ? undefined : usd(maxCostUsd),
    maxChecks: most('maxChecks', options),
    name,
    childToken,
    maxDelegates: most('maxDelegates', options),
  };
}

function most(name: 'maxChecks' | 'maxDelegates', { [name]: value }: EnrollDelegateOptions): number | undefined {
  return value === undefined ? undefined : requireWhole(name, value, Number.MAX_SAFE_INTEGER);
}

/** A delegate that others act as. */
export interface EnrollDelegateOptions extends Omit<DelegateOptions, keyof ActingOptions> {
  /** The token that it is to have, of 32 characters or more. With the one that it has, its delegation is extended. */
  readonly token?: string | undefined;
}

export interface EnrolledDelegate {
  readonly id: FullAgentId;
  readonly token: string;
  readonly expiresAt: Date;
}

/** @internal Asks the gateway for the delegate. */
export async function delegated(
  link: GatewayLink,
  by: { readonly id: FullAgentId; readonly token: string },
  options: EnrollDelegateOptions,
  call: CallOptions,
): Promise<EnrolledDelegate> {
  const answer = await link.send(rpc.delegateAgent, delegateRequest(by.id, by.token, options), link.limits(call));
  const { agentId: id, credentialToken: token, expiresAt } = answer;
  if (id === undefined) throw new ReeveInternal('the answer of the gateway names no agent');
  return { id, token, expiresAt: new Date(expiresAt) };
}
