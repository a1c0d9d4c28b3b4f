export type { DetectorName } from './detectors.ts';
export { detectorNames } from './detectors.ts';
export type { FieldPath } from './field-path.ts';
export { parseFieldPath } from './field-path.ts';
export type { FindMatches, FoundBy, Mask } from './mask.ts';
export type { MaskedResult } from './mask-result.ts';
export type { MaskedBeginning, PiecePlace } from './mask-beginning.ts';
export { maskBeginning } from './mask-beginning.ts';
export { maskResult, usualMask } from './mask-result.ts';
