/** Whom a turn acts for. */
export interface Warrant {
  /** Throws if whoever asked may not act any more. Asked before every run of a turn, and once others were first. */
  readonly require: () => void;
}

/** The gateway acts by itself. Also for a turn that judges at every run who asks, and answers accordingly. */
export const ownWork: Warrant = { require: () => undefined };

export function holds({ require }: Warrant): boolean {
  try {
    require();
    return true;
  } catch {
    return false;
  }
}
