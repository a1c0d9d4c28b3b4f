import * as fc from 'fast-check';

const characters = ['a', ' ', '"', '\\', '\n', '\r', '\0', ':', 'é', '漢', '😀'];

/** Text of characters that JSON, UTF-8 and streams of events treat in different ways. */
export const oddText = fc.array(fc.constantFrom(...characters), { maxLength: 20 }).map((parts) => parts.join(''));
