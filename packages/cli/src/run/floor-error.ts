import { CliError } from '../cli-error.ts';
import { cleanText } from '../output/clean-text.ts';

/** The codes that `reeve run` itself ends with. All others are the program's. */
export const floorExits = { refused: 125, denied: 126, notFound: 127, terminated: 143 } as const;

/** The floor cannot be had, so the program does not start. */
export class FloorError extends CliError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    // A path may have line breaks.
    super(cleanText(message), { ...options, exitCode: floorExits.refused });
  }
}
