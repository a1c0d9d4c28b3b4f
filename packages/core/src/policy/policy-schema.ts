import { microsPerUsd, mostMicros, mostPriceMicros } from '../kernel/index.ts';
import { actionTypes } from '../action/index.ts';
import { callEffects, policyModes, resultEffects } from './document.ts';
import { actionsOnExceed, cachedPriceKey, capKeys, ownCapKeys, priceKeys, unknownPrices } from './parse-budget.ts';
import { labelOwners, mostLabels } from '../runs/index.ts';
import { roles } from '../access/index.ts';
import type { approvalKeys, approverKeys } from './parse-approvals.ts';
import { approvalBounds, approverBounds } from './parse-approvals.ts';
import { labelPattern } from './parse-labels.ts';
import type { rateKeys } from './parse-rates.ts';
import { mostRewritten } from './parse-rewrite.ts';
import { mostRates, rateBounds, ratePers } from './parse-rates.ts';
import { maskSchema } from './mask-schema.ts';
import type { Members, Schema } from './schema.ts';
import type { ruleKeys } from './parse-rule.ts';
import { ruleSubjects } from './parse-rule.ts';
import type { documentKeys } from './parse-source.ts';

const idPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$';
const id = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}';

/**
 * The JSON Schema of a policy document, for editors. It is made from the parser's own lists, so a key that the parser
 * knows and the schema lacks does not compile. JSON Schema cannot check unique names, globs and conditions: that is
 * left to `reeve policy validate`.
 */
export function policySchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Reeve policy document',
    description: 'A file may hold several of them, with --- between them.',
    ...strict(document()),
    allOf: [
      where(
        { properties: { scope: { not: { const: 'global' } } }, required: ['scope'] },
        { properties: { default: false, pricing: false, budget: strict(limits(ownCapKeys)) } },
      ),
      where(
        { properties: { mode: { const: 'observe' } }, required: ['mode'] },
        { properties: { rates: false, budget: false, pricing: false } },
      ),
    ],
  };
}

function document(): Members<(typeof documentKeys)[number]> {
  return {
    name: {
      type: 'string',
      pattern: idPattern,
      description: 'Unique over all documents. Default: the name of the file.',
    },
    scope: {
      type: 'string',
      pattern: `^(?:global|org:${id}|team:${id}/${id}|agent:(?:${id})?/(?:${id})?/${id})$`,
      default: 'global',
      description: 'Whom it applies to: global, org:<org>, team:<org>/<team> or agent:<org>/<team>/<agent>.',
    },
    mode: {
      enum: [...policyModes],
      default: 'enforce',
      description: 'An observed document decides nothing: what it would have done is recorded.',
    },
    default: {
      enum: ['allow', 'deny'],
      description: 'For what no rule matches; in global documents only. One that says deny wins.',
    },
    hints: {
      type: 'boolean',
      default: true,
      description: 'False: agents that are refused are not told what this document would allow.',
    },
    rules: { type: 'array', items: rule(), description: 'Deny beats require_approval, which beats allow.' },
    rates: {
      type: 'array',
      maxItems: mostRates,
      items: { ...strict(rate()), required: ['per', 'window_secs', 'max'] },
      description: 'How many checks may be allowed or held in a window. The next one is denied.',
    },
    budget: {
      ...strict({
        ...limits(capKeys),
        timezone: { type: 'string', minLength: 1, default: 'UTC', description: 'An IANA name, as Europe/Berlin.' },
        action_on_exceed: { enum: [...actionsOnExceed], default: 'deny' },
      }),
      description: 'Caps in US dollars. In a scoped document the caps of its own tenant.',
    },
    pricing: {
      type: 'object',
      properties: {
        unknown_price: { enum: [...unknownPrices], default: 'zero', description: 'For models without a price.' },
      },
      additionalProperties: { ...strict(prices()), required: [...priceKeys] },
      description: 'Prices by glob of the model, in US dollars for a million tokens.',
    },
  };
}

function rate(): Members<(typeof rateKeys)[number]> {
  return {
    per: { enum: [...ratePers], description: 'Whose checks are counted together, within the scope of the document.' },
    window_secs: { ...bounded(rateBounds.window_secs), description: 'The window slides: it always ends now.' },
    max: bounded(rateBounds.max),
    actions: { type: 'array', minItems: 1, items: { enum: [...actionTypes] } },
    tools: {
      type: 'array',
      minItems: 1,
      items: { type: 'string', minLength: 1 },
      description: 'Globs of tools; one of them must match.',
    },
  };
}

function rule(): Schema {
  const globs = (of: string): Schema => ({
    type: 'array',
    minItems: 1,
    items: { type: 'string', minLength: 1 },
    description: `Globs of ${of}; one of them must match.`,
  });
  const members: Members<(typeof ruleKeys)[number]> = {
    name: { type: 'string', pattern: idPattern, description: 'Unique in its document.' },
    on: {
      enum: [...ruleSubjects],
      default: 'call',
      description: 'What the rule judges: calls, or what they bring back. Matchers look at the call in both cases.',
    },
    effect: { enum: [...callEffects] },
    actions: { type: 'array', minItems: 1, items: { enum: [...actionTypes] } },
    tools: globs('tools'),
    models: globs('models'),
    hosts: globs('hosts'),
    paths: globs('paths'),
    commands: globs('commands, with and without their arguments'),
    users: globs('users, by email or else by sub; it holds only where a user is proven'),
    when: {
      type: 'string',
      minLength: 1,
      description:
        'A CEL expression over agent, action, args, now, run, spend and user, and on results over result and result_text, that must hold, too. action.annotations are hints of the tool’s server, not facts.',
    },
    approvals: {
      ...strict(terms()),
      description:
        'Of require_approval: how many different people, how long they may take, whether they may grant it for longer, whether an unbound admin may decide about an agent of its own, and whose verdicts count. Of all rules that ask, the strictest terms count together.',
    },
    mask: {
      ...strict(maskSchema()),
      anyOf: [{ required: ['detect'] }, { required: ['patterns'] }, { required: ['fields'] }],
      description: 'Of the effect mask: what is replaced in all texts of a result, or of the prompt of a model call.',
    },
    labels: {
      type: 'array',
      minItems: 1,
      maxItems: mostLabels,
      items: { type: 'string', pattern: labelPattern.source },
      description:
        'Where the rule matches and nothing denies, the run bears these from then on. Conditions see run.labels.',
    },
    labels_of: {
      enum: [...labelOwners],
      default: 'run',
      description: 'Who bears the labels: the run, or the agent in all its runs until they are cleared.',
    },
    rewrite: {
      type: 'object',
      minProperties: 1,
      maxProperties: mostRewritten,
      additionalProperties: { type: 'string', minLength: 1 },
      description:
        'Of allow, for tool calls: members of the arguments, as path.to.member, and the CEL expression that each is set to. The rewritten call is judged again by all rules that deny or ask.',
    },
  };
  return {
    ...strict(members),
    required: ['effect'],
    dependentRequired: { labels_of: ['labels'] },
    allOf: dependencies(),
  };
}

/** What the effect of a rule, and what it is about, ask of its other members. */
function dependencies(): Schema[] {
  const onResults: Schema = { properties: { on: { const: 'result' } }, required: ['on'] };
  return [
    where({ required: ['approvals'] }, { properties: { effect: { const: 'require_approval' } } }),
    where(onResults, { properties: { effect: { enum: [...resultEffects] }, approvals: false, rewrite: false } }),
    where(
      { not: onResults, properties: { effect: { const: 'mask' } } },
      { properties: { actions: { items: { const: 'llm_call' } }, labels: false }, required: ['actions'] },
    ),
    where(
      { required: ['rewrite'] },
      { properties: { effect: { const: 'allow' }, actions: { items: { const: 'tool_call' } } } },
    ),
    where({ required: ['mask'] }, { properties: { effect: { const: 'mask' } } }),
    where({ properties: { effect: { const: 'mask' } } }, { required: ['mask'] }),
  ];
}

function terms(): Members<(typeof approvalKeys)[number]> {
  return {
    count: bounded(approvalBounds.count),
    ttl_secs: bounded(approvalBounds.ttl_secs),
    grants: { type: 'boolean', default: true, description: 'False: each such action is asked about.' },
    self: {
      type: 'boolean',
      default: true,
      description:
        'False: whoever registered the agent, or a credential that comes from that, cannot decide, not even an unbound admin.',
    },
    by: {
      ...strict(approvers()),
      minProperties: 1,
      description:
        'Whose verdicts count, among those who may decide. Roles and emails must both hold if both are given.',
    },
    not_user: {
      type: 'boolean',
      default: false,
      description: 'True: the verdict of the person for whom the agent acts does not count.',
    },
  };
}

function approvers(): Members<(typeof approverKeys)[number]> {
  return {
    roles: {
      type: 'array',
      minItems: 1,
      items: { enum: [...roles] },
      description: 'The role of the account. A key has that of the account that made it.',
    },
    emails: {
      type: 'array',
      minItems: 1,
      maxItems: approverBounds.emails,
      items: { type: 'string', minLength: 1, maxLength: approverBounds.characters },
      description: 'Globs of the email of the account; one of them must match. Letter case does not count.',
    },
  };
}

/** If `condition` holds, so must `consequence`. */
function where(condition: Schema, consequence: Schema): Schema {
  return { anyOf: [{ not: condition }, consequence] };
}

function strict(properties: Schema): Schema {
  return { type: 'object', properties, additionalProperties: false };
}

const amount: Schema = { type: 'number', minimum: 0, maximum: mostMicros / microsPerUsd };

function limits(keys: readonly string[]): Schema {
  return Object.fromEntries(keys.map((key) => [key, amount]));
}

function prices(): Schema {
  const price: Schema = { ...amount, maximum: mostPriceMicros / microsPerUsd };
  return {
    ...Object.fromEntries(priceKeys.map((key) => [key, price])),
    [cachedPriceKey]: { ...price, description: 'For input that the model has seen before. As other input if absent.' },
  };
}

function bounded({ least, most }: { readonly least: number; readonly most: number }): Schema {
  return { type: 'integer', minimum: least, maximum: most };
}
