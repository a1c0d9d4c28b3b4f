import { hashOf } from '../kernel/index.ts';
import type { OpTraits } from './op.ts';

/** A power of two. Traits beyond so many are too various to share. */
const mostKnown = 1024;

/** Makes one object of equal traits, so that memory holds those of hundreds of thousands of operations once. */
export class SharedTraits {
  readonly #known: (OpTraits | undefined)[] = [];

  of(traits: OpTraits): OpTraits {
    const place = hashOf(traits.resource, traits.policyRule.length + traits.reason.length) & (mostKnown - 1);
    const known = this.#known[place];
    if (known !== undefined && areSame(known, traits)) return known;
    const copy = copyOf(traits);
    this.#known[place] = copy;
    return copy;
  }
}

function areSame(one: OpTraits, other: OpTraits): boolean {
  return (
    one.resource === other.resource &&
    one.reason === other.reason &&
    one.policyRule === other.policyRule &&
    one.actionType === other.actionType &&
    one.stale === other.stale &&
    one.floor === other.floor &&
    one.rewrite === other.rewrite &&
    one.control === other.control &&
    one.resultDuty === other.resultDuty &&
    one.via?.door === other.via?.door &&
    one.via?.name === other.via?.name &&
    isSameList(one.delegators, other.delegators) &&
    isSameList(one.owedLabels, other.owedLabels)
  );
}

function isSameList<Item>(one: readonly Item[], other: readonly Item[]): boolean {
  return one === other || (one.length === other.length && one.every((item, at) => item === other[at]));
}

function copyOf(traits: OpTraits): OpTraits {
  return {
    actionType: traits.actionType,
    resource: traits.resource,
    delegators: traits.delegators,
    via: traits.via,
    reason: traits.reason,
    policyRule: traits.policyRule,
    owedLabels: traits.owedLabels,
    rewrite: traits.rewrite,
    control: traits.control,
    stale: traits.stale,
    floor: traits.floor,
    resultDuty: traits.resultDuty,
  };
}
