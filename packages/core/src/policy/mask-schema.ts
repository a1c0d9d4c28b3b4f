import { detectorNames, usualMask } from '../masking/index.ts';
import type { maskKeys } from './parse-mask.ts';
import { maskBounds } from './parse-mask.ts';
import type { Members, Schema } from './schema.ts';

/** What a rule masks. */
export function maskSchema(): Members<(typeof maskKeys)[number]> {
  const texts = (maxItems: number, description: string): Schema => ({
    type: 'array',
    minItems: 1,
    maxItems,
    items: { type: 'string', minLength: 1, maxLength: maskBounds.characters },
    description,
  });
  return {
    detect: {
      type: 'array',
      minItems: 1,
      maxItems: detectorNames.length,
      items: { enum: [...detectorNames] },
      description: 'What is known by its form.',
    },
    patterns: texts(maskBounds.patterns, 'Regular expressions of RE2. All that they match is replaced.'),
    fields: texts(
      maskBounds.fields,
      'Paths of members: names by dots, items by index, * for one, ** for any number, names with dots in quotes. They are replaced whole.',
    ),
    with: {
      type: 'string',
      maxLength: maskBounds.characters,
      default: usualMask,
      description: 'What stands in the place of what is found.',
    },
  };
}
