/** What detectors tell characters apart by. Others, and all beyond ASCII, have none. */
export const classes = { digit: 1, letter: 2, blank: 4, dash: 8, bracket: 16, point: 32, sign: 64 } as const;

const members: readonly (readonly [RegExp, number])[] = [
  [/\d/, classes.digit],
  [/[A-Za-z]/, classes.letter],
  [/ /, classes.blank],
  [/-/, classes.dash],
  [/[()/]/, classes.bracket],
  [/\./, classes.point],
  [/[_+]/, classes.sign],
];
const classOf = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const [, known = 0] = members.find(([characters]) => characters.test(String.fromCharCode(code))) ?? [];
  return known;
});

/** A cheap check: whatever is found with the help of classes has this in it. */
function mayHold(text: string): boolean {
  return text.includes('@') || text.includes('%40') || /\d[\d ()/.-]{6}|[A-Za-z]{2}\d{2}/.test(text);
}

const none = new Uint8Array(0);

/** A text with the class of each of its characters: to look into it again and again takes much longer. */
export class ClassedText {
  readonly text: string;
  /** Empty if nothing is to be found. */
  readonly #classes: Uint8Array;

  constructor(text: string) {
    this.text = text;
    this.#classes = mayHold(text) ? classesOf(text) : none;
  }

  /** Whether the character at a place is of one of the classes. Beyond the ends of the text, none is. */
  is(of: number, at: number): boolean {
    return at >= 0 && at < this.#classes.length && ((this.#classes[at] ?? 0) & of) !== 0;
  }

  /**
   * Hands out the runs of characters of these classes that have a length, in order. Where there is none, most characters are not
   * looked at: a run has one in every so many places.
   */
  eachRun(of: number, shortest: number, take: (start: number, end: number) => void): void {
    const all = this.#classes;
    const { length } = all;
    for (let at = shortest - 1; at < length; at += shortest) {
      if (((all[at] ?? 0) & of) === 0) continue;
      let start = at;
      while (start > 0 && ((all[start - 1] ?? 0) & of) !== 0) start--;
      while (at < length && ((all[at] ?? 0) & of) !== 0) at++;
      if (at - start >= shortest) take(start, at);
    }
  }
}

function classesOf(text: string): Uint8Array {
  const made = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) made[at] = classOf[code] ?? 0;
  }
  return made;
}
