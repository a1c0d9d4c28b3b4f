import type { Binding } from '../../access/index.ts';
import { widths } from '../../access/index.ts';
import { actionTypes } from '../../action/index.ts';
import type { Actor } from '../../audit/index.ts';
import type { BudgetTier, Period, TierOf } from '../../budget/index.ts';
import type { NameOf } from '../../journal/index.ts';
import type { Codec } from './codec.ts';
import type { MembersOf } from './record.ts';
import { record } from './record.ts';
import { nullable, text, word } from './values.ts';

/** The members of each kind of fact. One that lacks its kind, or a member, does not compile. */
export type SchemaOf<Fact> = {
  readonly [Name in NameOf<Fact>]: MembersOf<
    Omit<Extract<Fact, { readonly kind: Name } | { readonly type: Name }>, 'kind' | 'type'>
  >;
};

export const width = word(widths);
export const actionType = word(actionTypes);

export const actor: Codec<Actor> = record<Actor>({
  id: text,
  kind: word(['agent', 'api_key', 'account', 'system', 'unauthenticated']),
  label: text,
});

export const binding: Codec<Binding> = record<Binding>({ orgId: nullable(text), teamId: nullable(text) });

export const stop = word(['pause', 'terminate']);

const tier = word<BudgetTier>(['global', 'org', 'team', 'agent']);

export const tierOf: Codec<TierOf> = record<TierOf>({ tier, orgId: text, teamId: text, agentId: text });

export const period = word<Period>(['day', 'month']);

export function byPeriod<Value>(value: Codec<Value>): Codec<Readonly<Record<Period, Value>>> {
  return record<Readonly<Record<Period, Value>>>({ day: value, month: value } as MembersOf<
    Readonly<Record<Period, Value>>
  >);
}
