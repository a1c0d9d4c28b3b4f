import { ReeveError } from './errors.ts';

const mostNumber = 9999;

/**
 * Whether an error holds nothing besides its message that could tell what a tool brought back: no cause, no answer of a server,
 * nothing that others have written to its stack. Codes and paths that the message names hold no more than that.
 */
export function saysOnlyMessage(error: Error): boolean {
  // These hold ids and words of Reeve, unless the work of another operation ended in them.
  if (error instanceof ReeveError)
    return error.cause === undefined && !('result' in error && error.result !== undefined);
  if (!knownKinds.has(Object.getPrototypeOf(error))) return false;
  const { message } = error;
  const members: Readonly<Record<PropertyKey, PropertyDescriptor>> = Object.getOwnPropertyDescriptors(error);
  const own = members['message'];
  const isFixed = own === undefined ? message === '' || error instanceof DOMException : 'value' in own;
  const isPlain = (name: PropertyKey) => name === 'stack' || isSaid(name, members[name] ?? {}, error);
  return isFixed && hasPlainStack(error) && Reflect.ownKeys(members).every(isPlain);
}

/** Private members, getters and methods of other classes could hold anything. */
const knownKinds: ReadonlySet<unknown> = new Set(
  [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, DOMException].map(
    ({ prototype }) => prototype,
  ),
);

function isSaid(name: PropertyKey, { value, get }: PropertyDescriptor, { message, constructor }: Error): boolean {
  if (get !== undefined) return false;
  if (typeof value === 'number') return Math.abs(value) <= mostNumber;
  if (typeof value === 'string') return message.includes(value) || (name === 'name' && value === constructor.name);
  return value === undefined || value === null || typeof value === 'boolean';
}

/** Whether the stack is the message, and places in the program. */
function hasPlainStack({ stack, message }: Error): boolean {
  if (stack === undefined) return true;
  const at = stack.indexOf(message);
  if (at < 0 || !/^[\w.$ [\]]*:? ?$/.test(stack.slice(0, at))) return false;
  const places = stack.slice(at + message.length).split('\n');
  return places.every((line) => line === '' || /^ +at /.test(line));
}
