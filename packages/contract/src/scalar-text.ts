const scalar = /^(?:"[^]*"|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)?$/;

/**
 * Whether a policy would read this text as a JSON value that is neither an object nor a list, although whoever reads it
 * reads a text: the number of a card, for example. Such a result is sent as a JSON string. All doors judge by this.
 */
export function isScalarText(text: string): boolean {
  return scalar.test(text.trim());
}
