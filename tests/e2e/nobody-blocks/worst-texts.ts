/** Texts that are slow to scan, for various reasons. */

/** Runs of accents, of secret-like text, of quotes, and of text that makes patterns backtrack. */
const units = [
  'a',
  'a\u0301\u0323\u0301',
  '\u0301',
  '🦊',
  'eyJhbGciOi.',
  'AKIA',
  'password=',
  '-----BEGIN ',
  'https://a:b@',
  '"\\',
  '%41',
  'a/../',
  'a@a.',
  '１',
  '\n ',
] as const;

export function worstTexts(length: number): string[] {
  return units.map((unit) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length));
}

/** A source with as many different conditions as possible. */
export function manyConditions(length: number, head = 'rules:\n'): string {
  const rules: string[] = [head];
  let size = head.length;
  for (let at = 0; at < 2000 && size < length - 100; at++) {
    const rule = `- {name: r${at}, effect: deny, when: 'has(args.a${at}) && args.a${at} == "x"'}\n`;
    rules.push(rule);
    size += rule.length;
  }
  return rules.join('');
}

/** As many rules as a source holds, each with lists and a condition of its own. */
export function longRules(length: number, head = 'rules:\n'): string {
  const rules: string[] = [head];
  let size = head.length;
  for (let at = 0; at < 2000 && size < length - 300; at++) {
    const tools = [1, 2, 3, 4, 5, 6].map((tool) => `"search_${at}_${tool}.*"`).join(', ');
    const when = `has(args.a${at}) && size(args.a${at}) > ${at} && args.b${at}.startsWith("https://example.com/${at}/")`;
    const rule = `- {name: rule-${at}, effect: deny, tools: [${tools}], when: '${when}'}\n`;
    rules.push(rule);
    size += rule.length;
  }
  return rules.join('');
}

/** Globs that match a tool in many ways. */
export function manyGlobs(length: number, head = 'rules:\n'): string {
  const globs = Array.from({ length: Math.floor((length - 200) / 15) }, (_, at) => `"*a*b?[cd]${at % 10}*"`).join(', ');
  return `${head}- {name: globs, effect: deny, tools: [${globs}]}\n`.slice(0, length);
}

/** One large condition that 1,900 rules share. */
export function aliases(head = 'rules:\n'): string {
  const condition = Array.from({ length: 330 }, (_, at) => `args.a == '${at}'`).join(' || ');
  const rules = Array.from({ length: 1900 }, (_, at) => `- {name: r${at}, effect: deny, when: *w}\n`).join('');
  return `${head}- {name: first, effect: deny, when: &w "${condition}"}\n${rules}`;
}

/** Conditions that each reach the cost limit. */
export function dearConditions(head = 'rules:\n'): string {
  const rules = Array.from(
    { length: 1500 },
    (_, at) => `- {name: r${at}, effect: deny, when: "args.a.exists(x, args.a.exists(y, x + y == ${at}.5))"}\n`,
  );
  return `${head}${rules.join('')}`;
}

/** YAML that is hard to parse. */
export function worstYaml(length: number): string[] {
  const anchors = Array.from({ length: length / 18 }, (_, at) => `&a${at} x`).join(',');
  return [
    '['.repeat(length),
    '- '.repeat(length / 2),
    '{},'.repeat(length / 3),
    'a: 1\n'.repeat(length / 5),
    '--- {}\n'.repeat(length / 7),
    `rules: [${anchors}${',*a0'.repeat(length / 9)}]`.slice(0, length - 1) + ']',
    '!x a\n'.repeat(length / 5),
    `a: "${'\\\n '.repeat(length / 4)}"`,
  ].map((text) => text.slice(0, length));
}

/** Bodies of the maximum size, valid or invalid in very many places. */
export function worstBodies(member: string): string[] {
  const room = 1024 * 1024 - 200;
  const list = (item: string) => `[${Array.from({ length: room / (item.length + 1) }, () => item).join(',')}]`;
  const depth = room / 2;
  return [
    `{"${member}":${list('0')}}`,
    `{"${member}":${list('{}')}}`,
    `{"${member}":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    `{${Array.from({ length: room / 14 }, (_, at) => `"m${at.toString(36).padStart(6, '0')}":0`).join(',')}}`,
  ];
}
