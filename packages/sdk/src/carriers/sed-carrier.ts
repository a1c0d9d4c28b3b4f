/** Reads scripts of sed as far as they are known to run nothing and to open no file. Linear in the length of the script. */
class SedScript {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether all of it is known. */
  read(): boolean {
    for (;;) {
      this.#skip(/[\s;{}]/);
      if (this.#at >= this.#text.length) return true;
      if (!this.#address() || !this.#command()) return false;
    }
  }

  get #next(): string {
    return this.#text[this.#at] ?? '';
  }

  #skip(characters: RegExp): void {
    while (this.#at < this.#text.length && characters.test(this.#next)) this.#at++;
  }

  #address(): boolean {
    for (let parts = 0; parts < 3; parts++) {
      if (/[\d$+~]/.test(this.#next)) this.#skip(/[\d$+~]/);
      else if (this.#next === '/' || this.#next === '\\') {
        if (this.#next === '\\') this.#at++;
        if (!this.#delimited(1)) return false;
        this.#skip(/[IM]/);
      } else if (parts === 0) break;
      this.#skip(/[ \t]/);
      if (this.#next !== ',') break;
      this.#at++;
      this.#skip(/[ \t]/);
    }
    this.#skip(/[ \t!]/);
    return true;
  }

  /** Texts between a delimiter that stands here. A character class may hold it, so one leaves doubt. */
  #delimited(texts: number): boolean {
    const delimiter = this.#next;
    if (delimiter === '' || /[\w\s\\;{}]/.test(delimiter)) return false;
    this.#at++;
    for (let found = 0; found < texts; this.#at++) {
      if (this.#at >= this.#text.length) return false;
      if (this.#next === '\\') this.#at++;
      else if (this.#next === '[' && found === 0) {
        const end = this.#endOfClass();
        if (
          end === undefined ||
          this.#text
            .slice(this.#at, end)
            .replaceAll(/\\[^\]]/gs, '')
            .includes(delimiter)
        )
          return false;
        this.#at = end;
      } else if (this.#next === delimiter) found++;
    }
    return true;
  }

  /** Where a class in brackets ends, as POSIX writes them. */
  #endOfClass(): number | undefined {
    let at = this.#at + 1;
    if (this.#text[at] === '^') at++;
    // A bracket that comes first is one of its characters.
    for (let isFirst = true; at < this.#text.length; isFirst = false) {
      if (this.#text[at] === ']' && !isFirst) return at;
      const [, kind] = this.#text[at] === '[' ? (/^\[([:.=])/.exec(this.#text.slice(at, at + 2)) ?? []) : [];
      const end = kind === undefined ? at : this.#text.indexOf(`${kind}]`, at + 2);
      if (end < 0) return undefined;
      at = kind === undefined ? at + 1 : end + 2;
    }
    return undefined;
  }

  #command(): boolean {
    const command = this.#next;
    this.#at++;
    if (command === '{' || command === '}') return true;
    if (command === '#') {
      this.#line();
      return true;
    }
    if (/[dDpPnNhHgGxz=F]/.test(command)) return this.#ends();
    if (/[qQlL]/.test(command)) {
      this.#skip(/[ \t\d]/);
      return this.#ends();
    }
    if (/[btT:]/.test(command)) {
      this.#skip(/[ \t]/);
      this.#skip(/[\w.-]/);
      return this.#ends();
    }
    if (/[aic]/.test(command)) {
      this.#line();
      return true;
    }
    if (command === 's') {
      if (!this.#delimited(2)) return false;
      this.#skip(/[gpiIMm\d]/);
      return this.#ends();
    }
    return command === 'y' && this.#delimited(2) && this.#ends();
  }

  /** A command is over: nothing that belongs to it follows. */
  #ends(): boolean {
    this.#skip(/[ \t]/);
    return this.#at >= this.#text.length || /[;\n}#]/.test(this.#next);
  }

  /** The text of a, i and c goes on after a line that ends in a backslash. */
  #line(): void {
    for (; this.#at < this.#text.length && this.#next !== '\n'; this.#at++) if (this.#next === '\\') this.#at++;
  }
}

/** Whether a script of sed is known to run no command and to open no other file. */
export function isHarmlessSed(script: string): boolean {
  return new SedScript(script).read();
}
