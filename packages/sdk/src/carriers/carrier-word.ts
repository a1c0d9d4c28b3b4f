/** A word of a command, as a shell would give it to the program. */
export interface CarrierWord {
  readonly text: string;
  /** Whether the text is known only when it runs. */
  readonly unknown?: boolean | undefined;
  /** Whether names of files take its place. */
  readonly isGlob?: boolean | undefined;
}

/** Whether what becomes of the word may begin with a dash, and so may be an option. */
export function mayBeOption({ text, unknown = false, isGlob = false }: CarrierWord): boolean {
  return (unknown && /^(?:[-$`]|$)/.test(text)) || (isGlob && /^[-*?[]/.test(text));
}
