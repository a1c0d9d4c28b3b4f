/** Why a prompt cannot be masked. It names no part of what the prompt says. */
export class UnmaskablePrompt extends Error {}

export function unfit(): UnmaskablePrompt {
  return new UnmaskablePrompt('a rule masks more of it than its texts');
}
