const mostCharacters = 16 * 1024 * 1024;

/** Parses Server-Sent Events that arrive in any pieces. Returns the data of the complete ones. */
export class SseParser {
  #rest = '';
  #data: string[] = [];

  take(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > mostCharacters) throw new Error('an event is too large');
    const whole: string[] = [];
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line === '' && this.#data.length > 0) {
        whole.push(this.#data.join('\n'));
        this.#data = [];
      } else if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    }
    return whole;
  }
}
