import { isObject } from '../../is-object.ts';

/** Whether two JSON values differ in nothing but their texts and numbers. */
export function hasSameShape(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => hasSameShape(item, other[at]));
  }
  if (Array.isArray(one) || Array.isArray(other)) return false;
  if (!isObject(one) || !isObject(other)) return typeof one === typeof other && (one === null) === (other === null);
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return names.length === others.length && names.every((name) => name in other && hasSameShape(one[name], other[name]));
}
