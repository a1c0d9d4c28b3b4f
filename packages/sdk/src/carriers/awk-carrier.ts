/** Functions that compute and nothing else. */
const functions = new Set(
  (
    'length substr index split sub gsub gensub match sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand ' +
    'strftime systime mktime'
  ).split(' '),
);

/** Words that run or open something, name all variables, or are read by some awks alone. */
const refused = new Set(
  (
    'system getline close fflush ARGV ARGC SYMTAB FUNCTAB PROCINFO func switch case default include load namespace ' +
    'function BEGIN END BEGINFILE ENDFILE in else do print printf if while for return delete next nextfile exit break continue'
  ).split(' '),
);

const blank = /(?:[ \t]|\\\n)*(?:#[^\n]*)?/y;
const between = /[ \t\n;]+|\\\n|#[^\n]*/y;
const text = /"(?:[^"\\\n]|\\[^\n])*"/y;
const number = /(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;
const name = /[A-Za-z_]\w*/y;
/** Awks differ in whether a class in brackets may hold the end, so none that could is one. */
const pattern = /\/(?:[^/\\[\n]|\\[^\n]|\[(?!\^?\])(?:\[:[a-z]+:\]|\\[^\n[\]]|[^\][\\/\n])+\])*\//y;
const streams = />[ \t]*"\/dev\/std(?:err|out)"(?=[ \t]*(?:[;}\n]|$))/y;
const assigning = /(?:[-+*/%^]|\*\*)?=(?!=)/y;
const joining = /\*\*|&&|\|\||[=!<>]=|!?~|[-+*/%^<>?:]/y;

const deepest = 40;

/** A program of awk outside of the grammar. */
class Refused extends Error {}

/** Reads programs of awk by a grammar without pipes, redirections and calls of others. Linear in the length of the program. */
class AwkProgram {
  readonly #text: string;
  readonly #defined = new Set<string>();
  readonly #called = new Set<string>();
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#text = source;
  }

  read(): void {
    // Awks differ in whether a comment goes on.
    if (this.#text.split('\n').some((line) => line.includes('#') && line.endsWith('\\'))) throw new Refused();
    for (this.#skipLines(); this.#at < this.#text.length; this.#skipLines()) this.#item();
    for (const called of this.#called) if (!this.#defined.has(called)) throw new Refused();
  }

  /** What is at this place. Empty if it is something else. */
  #take(what: RegExp): string {
    what.lastIndex = this.#at;
    const found = what.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #skipLines(): void {
    while (this.#take(between) !== '');
  }

  /** The character at this place, after blanks. */
  get #next(): string {
    const next = this.#text[this.#at] ?? '';
    if (next !== ' ' && next !== '\t' && next !== '\\' && next !== '#') return next;
    this.#take(blank);
    return this.#text[this.#at] ?? '';
  }

  #takeIf(wanted: string): boolean {
    const is = this.#next === wanted[0] && this.#text.startsWith(wanted, this.#at);
    if (is) this.#at += wanted.length;
    return is;
  }

  #expect(wanted: string): void {
    if (!this.#takeIf(wanted)) throw new Refused();
  }

  #takeWord(...words: readonly string[]): string | undefined {
    const from = this.#at;
    this.#take(blank);
    const word = this.#take(name);
    if (words.includes(word)) return word;
    this.#at = from;
    return undefined;
  }

  #deeper(work: () => void): void {
    if (++this.#depth > deepest) throw new Refused();
    work();
    this.#depth--;
  }

  /** `pattern { … }`, `BEGIN { … }`, `function f(a, b) { … }`. */
  #item(): void {
    if (this.#takeWord('function') !== undefined) {
      this.#take(blank);
      this.#defined.add(this.#take(name));
      this.#expect('(');
      while (!this.#takeIf(')')) {
        if (refused.has(this.#take(name))) throw new Refused();
        if (!/[,)]/.test(this.#next)) throw new Refused();
        this.#takeIf(',');
        this.#take(blank);
      }
      this.#skipLines();
      return this.#block();
    }
    if (this.#takeWord('BEGIN', 'END') !== undefined) return this.#block();
    if (this.#next !== '{') {
      this.#list(false);
      if (this.#next !== '{') return this.#end();
    }
    this.#block();
  }

  #block(): void {
    this.#expect('{');
    this.#deeper(() => {
      for (this.#skipLines(); !this.#takeIf('}'); this.#skipLines()) this.#statement();
    });
  }

  /** A statement is over. Its end stays if it is that of a block. */
  #end(): void {
    if (!/^[;\n}]?$/.test(this.#next)) throw new Refused();
    if (this.#next !== '}') this.#at++;
  }

  #statement(): void {
    if (this.#next === '{') return this.#block();
    const word = this.#takeWord('if', 'while', 'for', 'do');
    if (word === undefined) {
      this.#simple();
      return this.#end();
    }
    if (word === 'do') {
      this.#body();
      this.#skipLines();
      if (this.#takeWord('while') === undefined) throw new Refused();
      this.#group();
      return this.#end();
    }
    if (word === 'for') this.#loop();
    else this.#group();
    this.#body();
    if (word !== 'if') return;
    const from = this.#at;
    this.#skipLines();
    if (this.#takeWord('else') !== undefined) this.#body();
    else this.#at = from;
  }

  /** What depends on a condition. Awks differ in what a slash is here. */
  #body(): void {
    this.#take(blank);
    while (this.#takeIf('\n')) this.#take(blank);
    if (this.#next === '/') throw new Refused();
    if (this.#next === ';') this.#at++;
    else this.#deeper(() => this.#statement());
  }

  #loop(): void {
    this.#expect('(');
    if (this.#next !== ';') this.#list(false);
    if (this.#takeIf(')')) return;
    for (const end of [';', ')']) {
      this.#expect(';');
      if (this.#next !== end) this.#list(false);
    }
    this.#expect(')');
  }

  #group(): void {
    this.#expect('(');
    this.#list(false);
    this.#expect(')');
  }

  #simple(): void {
    const word = this.#takeWord(
      ...['print', 'printf', 'next', 'nextfile', 'exit', 'break', 'continue', 'return', 'delete'],
    );
    if (/^[;\n}]?$/.test(this.#next)) {
      if (word === undefined) throw new Refused();
    } else if ((word === 'return' || word === 'exit') && this.#next === '/') throw new Refused();
    else this.#list(word?.startsWith('print') === true);
  }

  /** Expressions with commas between them. A `>` of print leads to a file. */
  #list(isPrinted: boolean): void {
    do {
      this.#take(blank);
      while (this.#takeIf('\n')) this.#take(blank);
      this.#deeper(() => this.#expression(isPrinted));
    } while (this.#takeIf(','));
  }

  #expression(isPrinted: boolean): void {
    this.#operand();
    for (;;) {
      const next = this.#next;
      if (/^[;\n{},)\]]?$/.test(next)) return;
      if (next === 'i' && this.#takeWord('in') !== undefined) {
        this.#take(blank);
        const array = this.#take(name);
        if (array === '' || refused.has(array)) throw new Refused();
        continue;
      }
      if (isPrinted && next === '>') {
        if (this.#take(streams) === '') throw new Refused();
        return;
      }
      const operator = this.#take(assigning) || this.#take(joining);
      if (operator !== '' && /^[&|]/.test(operator)) while (this.#takeIf('\n'));
      if (operator === '' && !/^[\w."$(]/.test(next)) throw new Refused();
      this.#operand();
    }
  }

  #operand(): void {
    let before = '';
    while (/^[-+!$]/.test(this.#next)) {
      before = this.#next;
      this.#at++;
    }
    const next = this.#next;
    if (/^[-+$]/.test(before) && next === '/') throw new Refused();
    if (next === '(') this.#deeper(() => this.#group());
    else if (this.#take(text) === '' && this.#take(number) === '' && this.#take(pattern) === '') this.#named();
    this.#take(blank);
    if (this.#takeIf('++') || this.#takeIf('--')) {
      if (this.#next === '/') throw new Refused();
    }
  }

  /** A variable, an element of an array, or the call of a function. */
  #named(): void {
    const found = this.#take(name);
    if (found === '' || refused.has(found)) throw new Refused();
    const isCall = functions.has(found) ? this.#next === '(' : this.#text[this.#at] === '(';
    if (isCall) {
      if (!functions.has(found)) this.#called.add(found);
      this.#expect('(');
      if (this.#next !== ')') this.#deeper(() => this.#list(false));
      this.#expect(')');
    } else if (functions.has(found)) {
      if (found !== 'length' || this.#next === '/') throw new Refused();
    } else if (this.#next === '[') {
      this.#expect('[');
      this.#deeper(() => this.#list(false));
      this.#expect(']');
    }
  }
}

/** Whether a program of awk is known to run no command and to open no other file. */
export function isHarmlessAwk(program: string): boolean {
  try {
    new AwkProgram(program).read();
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return false;
  }
}
