import type { PoliciesChange, PolicyEvent, PolicyScope, PolicyVersion } from '../../policy/index.ts';
import type { Codec } from './codec.ts';
import type { SchemaOf } from './common.ts';
import { actor, width } from './common.ts';
import { record } from './record.ts';
import { as, integer, list, nullable, optional, ownText, text, time, usually, word } from './values.ts';

const version = record<PolicyVersion>({
  name: text,
  version: integer,
  source: nullable(ownText),
  scope: text,
  savedAt: time,
  savedBy: actor,
  note: text,
  width,
  author: optional(width),
});

type Sources = Extract<PoliciesChange, { readonly kind: 'policy_set_saved' }>['set']['sources'];

interface WrittenScope {
  readonly tier: PolicyScope['tier'];
  readonly orgId: string;
  readonly teamId: string;
  readonly agentId: string;
}

const noText = usually('', text);

/** A tier has the ids down to its own. */
const scope: Codec<PolicyScope> = as(
  record<WrittenScope>({
    tier: word(['global', 'org', 'team', 'agent']),
    orgId: noText,
    teamId: noText,
    agentId: noText,
  }),
  (of: PolicyScope): WrittenScope => ({ orgId: '', teamId: '', agentId: '', ...of }),
  ({ tier, orgId, teamId, agentId }): PolicyScope => {
    if (tier === 'global') return { tier };
    if (tier === 'org') return { tier, orgId };
    if (tier === 'team') return { tier, orgId, teamId };
    return { tier, orgId, teamId, agentId };
  },
);

export const policyChanges: SchemaOf<PoliciesChange> = {
  policy_saved: { saved: version },
  policy_set_saved: {
    set: record({
      version: text,
      at: time,
      sources: list(
        record<Sources[number]>({
          file: text,
          text: ownText,
          hash: ownText,
          name: optional(text),
          author: optional(width),
          namespace: optional(text),
        }),
      ),
    }),
  },
};

export const policyEvents: SchemaOf<PolicyEvent> = {
  policy: {
    at: time,
    version: text,
    error: nullable(text),
    document: nullable(
      record({ name: text, version: integer, scope, change: word(['put', 'rolled_back', 'deleted']) }),
    ),
  },
};
