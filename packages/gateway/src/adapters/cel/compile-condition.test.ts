import { globSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConditionError, NotRecorded } from '@reeve/core';
import { conditionCompiler } from './compile-condition.ts';
import { sampleFacts } from './sample-facts.ts';

const compile = conditionCompiler();

function holds(source: string, args: unknown = {}): boolean {
  return compile(source)(sampleFacts(args));
}

function forgotten(): never {
  throw new NotRecorded('the run is not recorded');
}

function problemOf(source: string): ConditionError {
  try {
    compile(source);
  } catch (error) {
    if (error instanceof ConditionError) return error;
    throw error;
  }
  throw new Error(`${source} compiles`);
}

describe('the members that conditions see', () => {
  test.each([
    'agent.org_id == "acme"',
    'agent.team_id == "red"',
    'agent.agent_id == "mailer"',
    'agent.name == "Mailer"',
    'agent.framework == "langgraph"',
    'agent.depth == 2',
    'agent.metadata.env == "prod"',
    'agent.metadata["owner"] == "zoë"',
    '"env" in agent.metadata && !("x" in agent.metadata) && size(agent.metadata) == 2',
    'agent["name"] == "Mailer"',
    'matches(agent.name, "^Mail") && !matches(agent.name, "^mail")',
    'string(timestamp("2026-01-31T10:00:00.25+01:00")) == "2026-01-31T09:00:00.25Z"',
    'string(timestamp("2026-01-31T09:00:00Z")) == "2026-01-31T09:00:00Z"',
    'string(timestamp("0001-01-01T00:00:00Z")) == "0001-01-01T00:00:00Z"',
    'timestamp(string(now)) == now',
    'int(timestamp("1970-01-01T00:01:40.9Z")) == 100 && int(timestamp("1969-12-31T23:59:59.5Z")) == -1',
    'string(duration("1h30m")) == "5400s" && string(duration("-250ms")) == "-0.25s"',
    'action.type == "tool_call"',
    'action.tool == "send_mail"',
    'action.cost_usd == 0.25',
    'run.id == "run-7"',
    'run.checks == 12',
    'run.spent_usd == 1.5',
    'spend.global.day_usd == 1 && spend.global.month_usd == 2',
    'spend.org.day_usd == 3 && spend.org.month_usd == 4',
    'spend.team.day_usd == 5 && spend.team.month_usd == 6',
    'spend.agent.day_usd == 7 && spend.agent.month_usd == 8',
    'now == timestamp("2026-07-15T22:30:15.250Z")',
    'args.to == "x"',
  ])('%s', (source) => {
    expect(holds(source, { to: 'x' })).toBe(true);
    const negated = `!(${source})`;
    expect(holds(negated, { to: 'x' })).toBe(false);
  });

  test('what a server says of its tool, and that it may say nothing', () => {
    const said = (annotations: unknown) => sampleFacts({}, { annotations: () => annotations });
    const warns = compile('action.annotations.destructiveHint == true');
    expect(warns(said({ destructiveHint: true }))).toBe(true);
    expect(warns(said({ destructiveHint: 'true' }))).toBe(false);
    expect(() => warns(said({}))).toThrow('destructiveHint');
    const speaks = compile('has(action.annotations.title) && action.annotations["title"].startsWith("D")');
    expect([speaks(said({ title: 'Delete' })), speaks(said({}))]).toEqual([true, false]);
    expect(compile('size(action.annotations) == 0')(said({}))).toBe(true);
  });

  test.each([
    ['tool_call', { source: 'mcp' }, 'action.source == "mcp"'],
    ['llm_call', { model: 'large' }, 'action.model == "large"'],
    ['network_call', { port: 8443 }, 'action.port == 8443'],
    ['file_operation', { operation: 'delete' }, 'action.operation == "delete"'],
    ['process_exec', { command: 'rm', commandArgs: ['-r'] }, 'action.command == "rm"'],
    ['tool_call', { url: 'https://a.example/' }, 'action.target_url == "https://a.example/"'],
  ] as const)('of a %s with %j: %s', (type, members, source) => {
    expect(compile(source)(sampleFacts({}, { type, members }))).toBe(true);
    expect(compile(source)(sampleFacts({}))).toBe(false);
  });

  test.each([
    ['network_call', { host: 'EXAMPLE.com.' }, 'action.host == "example.com"'],
    ['tool_call', { url: 'https://user@Evil.COM:8443/x' }, 'action.host == "evil.com"'],
    ['file_operation', { path: '/data/../etc//passwd' }, 'action.path == "/etc/passwd"'],
  ] as const)('hosts and paths are those that matchers see: %s %j', (type, members, source) => {
    expect(compile(source)(sampleFacts({}, { type, members }))).toBe(true);
  });

  test('what an action does not have is empty or 0, and has() says so', () => {
    const absent = ['source', 'model', 'host', 'path', 'operation', 'command', 'target_url'];
    const source = absent.map((name) => `action.${name} == "" && !has(action.${name})`).join(' && ');
    expect(holds(`${source} && action.port == 0 && !has(action.port) && has(action.tool)`)).toBe(true);
    expect(compile('action.cost_usd == 0 && !has(action.cost_usd)')(sampleFacts({}, { costUsd: 0 }))).toBe(true);
  });

  test.each([
    ['run.checks > 1 || agent.org_id == "acme"', true],
    ['agent.org_id == "acme" || run.checks > 1', true],
    ['run.checks > 1 && agent.org_id == "other"', false],
    ['args.list.exists(n, n > 1 || run.checks > 1)', true],
  ])('what is not known any more is outweighed by what decides: %s', (source, expected) => {
    expect(compile(source)(sampleFacts({ list: [1, 2] }, { run: forgotten }))).toBe(expected);
  });

  test.each([
    'run.checks > 1 && agent.org_id == "acme"',
    'args.missing > 1 && run.checks > 1',
    'run.checks > 1 || args.missing > 1',
    '!(run.checks > 1)',
    'args.list.exists(n, run.checks > n)',
  ])('what is not known any more leaves the condition unknown: %s', (source) => {
    expect(() => compile(source)(sampleFacts({ list: [1, 2] }, { run: forgotten }))).toThrow(NotRecorded);
  });

  test('facts are looked up when the condition comes to them, and once', () => {
    let asked = 0;
    const facts = sampleFacts(
      {},
      {
        args: () => {
          asked++;
          return { n: 1 };
        },
        run: () => {
          throw new Error('nobody asked for the run');
        },
      },
    );
    expect(compile('agent.org_id == "acme" || run.checks > 1')(facts)).toBe(true);
    expect(asked).toBe(0);
    expect(compile('args.n == 1 && args.n < 2')(facts)).toBe(true);
    expect(asked).toBe(1);
    expect(() => compile('run.checks > 1')(facts)).toThrow('nobody asked for the run');
  });

  test('arguments that are absent are an empty map', () => {
    expect(compile('size(args) == 0')(sampleFacts(undefined))).toBe(true);
  });

  test('arguments need not be a map', () => {
    expect(holds('args[1] == "b"', ['a', 'b'])).toBe(true);
    expect(holds('args == "text"', 'text')).toBe(true);
    expect(holds('args == null', null)).toBe(false);
  });
});

describe('what is wrong is said when the policy is loaded', () => {
  test.each([
    ['unknown == 1', 0, 'unknown variable "unknown"; known: agent, action, args, now, run, spend'],
    ['args.n > 1 && agent.orgid == "x"', 20, '"agent" has no member "orgid"; known: org_id, team_id'],
    ['spend.org.daily > 1', 10, '"spend.org" has no member "daily"; known: day_usd, month_usd'],
    ['spend.planet.day_usd > 1', 6, '"spend" has no member "planet"; known: global, org, team, agent'],
    ['has(action.tol)', 11, '"action" has no member "tol"'],
    ['agent["orgid"] == ""', 6, '"agent" has no member "orgid"'],
    ['agent[args.member] == ""', 0, 'members of "agent" are written out'],
    ['agent == agent', 0, '"agent" is used by its members'],
    ['spend.org == spend.team', 6, '"spend.org" is used by its members'],
    ['agent.name == 5', 0, 'there is no operator for "string == int"'],
    ['true && agent.depth < "3"', 8, 'there is no operator for "int < string"'],
    ['now > "2026"', 0, 'there is no operator for "timestamp > string"'],
    ['agent.name.startsWith(1)', 0, 'there is no function "string.startsWith(int)"'],
    ['agent.name && true', 0, 'logical operator requires bool operands'],
    ['agent.name', 0, 'a condition must be true or false, and this is of type string'],
    ['size(args.list)', 0, 'of type int'],
    ['sizeof(args) == 1', 0, 'there is no function "sizeof"'],
    ['args.name.reverse() == ""', 0, 'there is no method "reverse"'],
    ['size(args, 1) == 1', 0, 'the function "size" takes another number of arguments'],
    ['args.list.all(x, x > 1', 22, 'expected ")", got the end'],
    ['args.list.all(5, true)', 14, 'invalid predicate iteration variable'],
    ['agent.name.all(c, c == "x")', 6, 'cannot be range of a comprehension'],
    ['args.n >', 8, 'unexpected token: the end'],
    ['', 0, 'unexpected token: the end'],
    ['args.n # 1', 7, 'unexpected character: #'],
    ['args.s == "open', 10, 'unterminated string'],
    ['args.s.matches("(a")', 15, 'bad pattern: "(" has no matching ")"'],
    ['now.getHours("Berlin") > 1', 13, 'there is no such time zone'],
    ['now > timestamp("yesterday")', 6, 'timestamp takes a text such as'],
    ['now - now > duration("1 hour")', 12, 'duration takes a text such as'],
    ['args.n == 99999999999999999999', 10, 'does not fit into an int of 64 bits'],
    ['args.n == 5u', 10, 'bytes and unsigned numbers are not available'],
    ['args.b == b"x"', 10, 'bytes and unsigned numbers are not available'],
    ['agent.depth in []', 0, 'the type of "[]" or "{}" cannot be told here'],
    ['google.protobuf.Timestamp == type(now)', 0, 'unknown variable "google"'],
  ])('%s', (source, offset, message) => {
    const problem = problemOf(source);
    expect(problem.message).toContain(message);
    expect(problem.offset).toBe(offset);
  });

  test('the message says the line and column too', () => {
    const problem = problemOf('args.n > 1 &&\n  agent.nam == "x"');
    expect(problem.offset).toBe(22);
    expect(problem.message).toContain('(line 2, column 9 of the expression)');
  });

  test('a result of unknown type is taken, and has to be a bool when it is there', () => {
    expect(holds('args.flag', { flag: true })).toBe(true);
    expect(() => holds('args.flag', { flag: 'yes' })).toThrow(
      'a condition must be true or false, and this is a string',
    );
    expect(() => holds('args.flag', { flag: null })).toThrow('this is null');
  });

  test('length, parts and depth are bounded', () => {
    const parts = (count: number) => Array.from({ length: count }, () => 'true').join(' && ');
    expect(compile(parts(900))(sampleFacts())).toBe(true);
    expect(problemOf(parts(1100)).message).toContain('too many parts');
    expect(problemOf(`"${'x'.repeat(20_000)}" == "y"`).message).toContain('a condition may have 16384 characters');
    expect(problemOf(`${'('.repeat(100)}true${')'.repeat(100)}`).message).toContain('nested too deeply');
    expect(problemOf(`args${'.a'.repeat(100)} == 1`).message).toContain('nested too deeply');
    expect(() => compile('!'.repeat(16_000) + 'true')).toThrow(ConditionError);
    expect(() => conditionCompiler({ parts: 3 })('args.a == args.b')).toThrow('too many parts');
  });
});

describe('what is missing is an error when the condition is evaluated', () => {
  test.each([
    ['args.amount > 5', {}, 'there is no member "amount"'],
    ['args.a.b.c == 1', { a: { b: {} } }, 'there is no member "c"'],
    ['args.a.b == 1', { a: 'text' }, 'a string has no members'],
    ['agent.metadata.region == "eu"', {}, 'there is no member "region"'],
    ['args["amount"] > 5', {}, 'the map has no such key'],
    ['args.list[3] == 1', { list: [1, 2, 3] }, 'a list of 3 has no index 3'],
    ['args.list[-1] == 1', { list: [1] }, 'a list of 1 has no index -1'],
    ['args.list["0"] == 1', { list: [1] }, 'a list index must be an int, not a string'],
    ['args.list[0.5] == 1', { list: [1] }, 'a list index must be an int, not a double'],
    ['has(args.a.b)', {}, 'there is no member "a"'],
    ['has(args.a.b)', { a: [1] }, 'a list has no members'],
    ['args.amount > 5', { amount: '900' }, 'a string is neither less nor more than an int'],
    ['args.amount > 5', { amount: null }, 'null is neither less nor more than an int'],
    ['args.a + args.b == 2', { a: 1, b: '1' }, '"+" does not go with a double and a string'],
    ['args.a / args.b > 2', { a: 0, b: 0 }, 'division by zero'],
    ['args.a % args.b > 2', { a: 1, b: 0 }, 'division by zero'],
    ['7 / int(args.b) > 2', { b: 0 }, 'division by zero'],
    ['args.a * args.b > 2', { a: Number.POSITIVE_INFINITY, b: 0 }, 'the result is not a number'],
    ['int(args.a) * 2 > 1', { a: 9e18 }, 'does not fit into an int of 64 bits'],
    ['!args.a', { a: 0 }, '"!" takes a bool, not a double'],
    ['args.a ? true : false', { a: 1 }, '"?" takes a bool, not a double'],
    ['args.a && true', { a: 1 }, '"&&" takes a bool, not a double'],
    ['args.a.startsWith("x")', { a: 1 }, 'startsWith works on strings, not on a double'],
    ['args.a.all(x, x)', { a: 'text' }, 'a string has no elements'],
    ['args.a.all(x, x)', { a: [1] }, 'the test of all takes a bool, not a double'],
    ['args.a.filter(x, x.y).size() > 0', { a: [{}] }, 'there is no member "y"'],
    ['args.a.exists_one(x, x.y)', { a: [{ y: true }, {}] }, 'there is no member "y"'],
    ['size(args.a) > 1', { a: 5 }, 'a double has no size'],
    ['now.getHours(args.zone) > 1', { zone: 'Nowhere' }, 'there is no such time zone'],
    ['args.a.matches(args.b)', { a: 'x', b: '(' }, 'the pattern is not a regular expression'],
    ['int(args.a) == 1', { a: '1.5' }, 'int cannot be made of a string like this'],
  ])('%s with %j', (source, args, message) => {
    expect(() => holds(source, args)).toThrow(message);
  });

  test('errors never carry what the agent sent', () => {
    for (const source of [
      'args.s > 1',
      'int(args.s) > 1',
      'args[args.s] == 1',
      'now.getHours(args.s) == 1',
      'args.s',
    ]) {
      expect(() => holds(source, { s: 'hunter2' })).toThrow(/^(?!.*hunter2)/s);
    }
  });

  test.each([
    ['has(args.amount) && args.amount > 5', false],
    ['!has(args.amount) || args.amount > 5', true],
    ['args.missing > 5 || args.here == 1', true],
    ['args.here == 1 || args.missing > 5', true],
    ['args.missing > 5 && args.here == 2', false],
    ['[args.here, 2].exists(x, args.list[x] == 30)', true],
    ['args.list.exists(x, x == 20 || x.y == 1)', true],
    ['args.mixed.all(x, x > 5)', false],
    ['has(args.nothing) && args.nothing == null', true],
  ])('what decides outweighs what fails: %s', (source, expected) => {
    const args = { here: 1, list: [10, 20, 30], mixed: ['text', 1, 9], nothing: null };
    expect(holds(source, args)).toBe(expected);
  });

  test('what decides nothing leaves the error', () => {
    expect(() => holds('args.missing > 5 || args.here == 2', { here: 1 })).toThrow('there is no member "missing"');
    expect(() => holds('args.list.all(x, x > 5)', { list: ['text', 9] })).toThrow('a string is neither less');
    expect(() => holds('args.list.exists(x, x > 5)', { list: ['text', 1] })).toThrow('a string is neither less');
  });
});

describe('numbers', () => {
  test.each([
    'args.n + 1 == 6',
    '1 + args.n == 6.0',
    'args.n - 0.5 == 4.5',
    'args.n * 2 == 10 && 2 * args.n == 10',
    'args.n / 2 == 2.5 && 10 / args.n == 2',
    'args.n % 2 == 1 && 7 % args.n == 2 && args.n % 2.0 == 1',
    'args.n > 4 && args.n >= 5.0 && 6 > args.n && 5 <= args.n && args.n < 5.5',
    'args.n == 5 && 5 == args.n && args.n != 6 && args.n == 5.0',
    'agent.depth + 0.5 == 2.5 && 0.5 + agent.depth == 2.5',
    'agent.depth == 2.0 && 2.0 == agent.depth && agent.depth != 2.5',
    'action.cost_usd * 4 == 1 && action.cost_usd < 1',
    'args.n in [1, 5] && args.n in [5.0] && !(args.n in [1, 2.5])',
    'action.cost_usd * 4.0 in [1, 2] && agent.depth in [2.0]',
    'args.list[args.i] == 20 && args.list[1.0 + args.i - 1] == 20 && args.list[0] == 10',
    '7 / 2 == 3 && 7 % 2 == 1 && -7 / 2 == -3',
    '{1: "a"}[args.i] == "a" && {"k": 2}["k"] == 2',
    'int(args.n) == 5 && double("2.5") == 2.5 && int("-7") == -7 && string(5) == "5"',
    '-9223372036854775808 < 0 && 9223372036854775807 > 0',
    'args.big != 9007199254740993 && args.big == 9007199254740992',
    'args.inf > 1000000',
    'type(args.n) == double && type(1) == int && type(args.list) == list && type(args) == map',
    '-args.n == -5 && -(args.n + 1) < 0',
    'args.list == [10, 20] && args.list != [10, 21] && [10.0, 20] == args.list',
    '(args.n > 3 ? args.n : 3) == 5',
  ])('%s', (source) => {
    const args = JSON.parse('{"n": 5, "i": 1, "list": [10, 20], "big": 9007199254740992, "inf": 1e999}') as unknown;
    expect(holds(source, args)).toBe(true);
  });

  test('across types nothing is equal', () => {
    expect(holds('args.a != args.b && args.a != 1 && args.b != "1" && args.c != 0', { a: '1', b: 1, c: false })).toBe(
      true,
    );
  });
});

describe('texts', () => {
  const args = { s: 'Zoë 😀 naïve', e: '', l: ['a', 'b'], mail: 'Ann@Example.COM', ascii: 'AbC' };
  test.each([
    'size(args.s) == 11 && args.s.size() == 11 && size("😀") == 1',
    'args.s.startsWith("Zoë") && args.s.endsWith("naïve") && args.s.contains("😀")',
    'args.s.indexOf("n") == 6 && args.s.lastIndexOf("e") == 10 && args.s.indexOf("x") == -1',
    'args.s.indexOf("😀") == 4 && args.s.substring(4, 5) == "😀" && args.s.substring(6) == "naïve"',
    'args.s.indexOf("ë", 3) == -1 && args.s.lastIndexOf("ë", 1) == -1 && args.s.lastIndexOf("ë", 2) == 2',
    'args.s.substring(11) == "" && args.s.substring(0, size(args.s)) == args.s',
    'args.mail.lowerAscii() == "ann@example.com" && args.ascii.upperAscii() == "ABC"',
    '"ÄÖK".lowerAscii() == "ÄÖk" && "äöß".upperAscii() == "äöß"',
    '"  x ".trim() == "x" && " ".trim() == "" && "".trim() == ""',
    '"\\u0085rm\\u3000\\u00a0".trim() == "rm" && size("\\ufeffrm".trim()) == 3',
    '"a,b,,c".split(",") == ["a", "b", "", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"]',
    '"😀b".split("") == ["😀", "b"] && "".split(",") == [""] && "a".split(",", 0) == []',
    '"abab".split("ab", -1) == ["", "", ""] && "abc".split("", 2) == ["a", "bc"]',
    'args.l.join("-") == "a-b" && args.l.join() == "ab"',
    '"a" + args.l[1] == "ab" && args.l + ["c"] == ["a", "b", "c"]',
    '"a" < "b" && "a" < "aa" && "\\uffff" < "😀"',
    'args.e.contains("") && args.e.indexOf("") == 0 && !args.e.contains("a")',
    '"x" in ["x", "y"] && !(args.l in [["b"]]) && ["a", "b"] in [args.l]',
    'args.s.matches("naïve$") && args.s.matches("^Zo. . na") && !args.s.matches("^na")',
    'args.mail.matches("(?i)^[a-z]+@example\\\\.com$") && args.mail.matches(r"@\\w+\\.COM")',
    '"K".matches("(?i)k") && !"K".matches("k")',
    'args.s.matches(args.l[0]) && !args.s.matches("^" + args.l[0] + "$")',
    'bool("true") && !bool("0")',
    'args.l.exists(x, x == "b") && !args.l.all(x, x == "b") && args.l.exists_one(x, x == "b")',
    'args.l.map(x, x + "!") == ["a!", "b!"] && args.l.map(x, x > "a", x + "?") == ["b?"]',
    'args.l.filter(x, x != "a") == ["b"] && {"k": 1, "j": 2}.exists(k, k == "j")',
    'args.l.all(x, args.l.exists(y, x == y)) && args.l.all(args, args != "c")',
    'cel.bind(first, args.l[0], first + first == "aa")',
  ])('%s', (source) => {
    expect(holds(source, args)).toBe(true);
  });

  test('a long needle is found wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', 'e'), maxLength: 40 }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'e'), maxLength: 6 }),
        (text, needle) => {
          const args = { text, needle, first: text.indexOf(needle), last: text.lastIndexOf(needle) };
          expect(holds('args.text.indexOf(args.needle) == args.first', args)).toBe(true);
          expect(holds('args.text.lastIndexOf(args.needle) == args.last', args)).toBe(true);
          expect(holds('args.text.contains(args.needle)', args)).toBe(text.includes(needle));
          if (needle !== '')
            expect(holds('args.text.split(args.needle).join(args.needle) == args.text', args)).toBe(true);
        },
      ),
    );
  });
});

test('a map with the same key twice has no value', () => {
  expect(() => holds('{"a": 1, args.k: 2}["a"] == 2', { k: 'a' })).toThrow('the same key twice');
});

test.each([
  ...['2024-02-30T00:00:00Z', '2023-02-29T00:00:00Z', '2024-01-01T24:00:00Z', '2024-13-01T00:00:00Z'],
  ...['2024-00-01T00:00:00Z', '2024-01-00T00:00:00Z', '2024-01-01T00:60:00Z', '2024-01-01T00:00:60Z'],
  ...['2024-01-01T00:00:00+24:00', '2024-01-01T00:00:00+01:60', '0000-12-31T00:00:00Z', '0001-01-01T00:00:00+00:01'],
  ...['9999-12-31T23:59:59-00:01', '2024-01-01T00:00:00.0000000001Z'],
])('%s is not a timestamp', (text) => {
  expect(() => holds('timestamp(args.at) < now || timestamp(args.at) >= now', { at: text })).toThrow();
});

test.each([
  'timestamp("9999-12-31T23:59:59.999999999Z") + duration("1ns") > now',
  'timestamp("0001-01-01T00:00:00Z") - duration("1ns") < now',
  'duration(args.long) > duration("1s")',
  'duration(args.most) + duration(args.most) > duration("1s")',
])('%s passes the range of times', (source) => {
  expect(() => holds(source, { long: '315576000001s', most: '315576000000s' })).toThrow('out of range');
});

describe('time', () => {
  test.each([
    'now.getFullYear() == 2026 && now.getMonth() == 6 && now.getDate() == 15 && now.getDayOfMonth() == 14',
    'now.getDayOfWeek() == 3 && now.getDayOfYear() == 195',
    'now.getHours() == 22 && now.getMinutes() == 30 && now.getSeconds() == 15 && now.getMilliseconds() == 250',
    'now.getHours("Europe/Berlin") == 0 && now.getDate("Europe/Berlin") == 16',
    'now.getDayOfWeek("Europe/Berlin") == 4 && now.getDayOfYear("Europe/Berlin") == 196',
    'now.getHours("Asia/Kathmandu") == 4 && now.getMinutes("Asia/Kathmandu") == 15',
    'now.getHours("America/New_York") == 18 && now.getHours("UTC") == 22 && now.getHours("+02:00") == 0',
    'now.getHours(args.zone) == 7',
    'now > timestamp("2026-07-15T00:00:00Z") && now < timestamp("2026-07-16T00:00:00+01:00")',
    'now - timestamp("2026-07-15T22:00:15.250Z") == duration("30m")',
    'now - duration("1h30m") < timestamp("2026-07-15T21:00:16Z") && now + duration("1s") > now',
    'duration("1h") > duration("59m59.9s") && duration("90s").getMinutes() == 1 && duration("-1.5h").getHours() == -1',
    'timestamp(0) == timestamp("1970-01-01T00:00:00Z")',
    'timestamp(args.at).getHours("Europe/Berlin") == 9',
    // The clocks in Berlin went back at 01:00 UTC.
    'timestamp("2026-10-25T00:59:59Z").getHours("Europe/Berlin") == 2',
    'timestamp("2026-10-25T01:00:00Z").getHours("Europe/Berlin") == 2',
    'timestamp("2026-10-25T02:00:00Z").getHours("Europe/Berlin") == 3',
    'timestamp("0099-01-01T00:00:00Z").getFullYear("UTC") == 99',
    'duration("123.321456789s").getMilliseconds() == 321 && duration("-1.5s").getMilliseconds() == -500',
    'timestamp("2026-01-31T08:00:00.000000001Z") > timestamp("2026-01-31T08:00:00Z")',
    'timestamp("2026-01-31T08:00:00Z") + duration("1ns") != timestamp("2026-01-31T08:00:00Z")',
    'timestamp("2026-01-31T08:00:00.5Z") - timestamp("2026-01-31T08:00:00.499999999Z") == duration("1ns")',
    'timestamp("1969-12-31T23:59:59.9999999Z").getMilliseconds() == 999',
    'timestamp("2024-02-29T23:59:59+23:59") < timestamp("2024-02-29T00:01:00Z")',
  ])('%s', (source) => {
    expect(holds(source, { zone: 'Asia/Tokyo', at: '2026-01-31T08:00:00Z' })).toBe(true);
  });
});

describe('arguments are data', () => {
  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'])(
    'nothing is inherited: %s',
    (name) => {
      expect(() => holds(`args.${name} != null`)).toThrow('there is no member');
      expect(() => holds(`args.map.${name} != null`, { map: {} })).toThrow('there is no member');
      expect(() => holds(`args["${name}"] != null`)).toThrow('the map has no such key');
      expect(() => holds(`{"a": 1}["${name}"] != 2`)).toThrow('the map has no such key');
      expect(() => holds(`agent.metadata.${name} != ""`)).toThrow('there is no member');
      expect(holds(`has(args.${name}) || "${name}" in args || has(agent.metadata.${name})`)).toBe(false);
      const sent = JSON.parse(`{"${name}": "sent"}`) as unknown;
      expect(holds(`args.${name} == "sent" && has(args.${name}) && args == {"${name}": "sent"}`, sent)).toBe(true);
    },
  );

  test.each(['length', 'push', 'constructor', '__proto__'])('lists and texts have no members: %s', (name) => {
    expect(() => holds(`args.list.${name} != null`, { list: [1] })).toThrow('a list has no members');
    expect(() => holds(`args.text.${name} != null`, { text: 'x' })).toThrow('a string has no members');
  });

  test('getters are not called, and what is hidden, inherited or not JSON is not there', () => {
    let called = 0;
    const args = Object.defineProperties(Object.create({ inherited: 1 }) as object, {});
    const own = {
      get trap() {
        called++;
        return 1;
      },
      [Symbol('secret')]: 1,
      fn: () => 1,
      date: new Error('odd'),
      none: undefined,
    };
    Object.defineProperty(own, 'hidden', { value: 1, enumerable: false });
    expect(() => compile('args.trap == 1')(sampleFacts({}, { args: () => own }))).toThrow('there is no member "trap"');
    expect(() => compile('args.hidden == 1')(sampleFacts({}, { args: () => own }))).toThrow('there is no member');
    expect(() => compile('args.none == 1')(sampleFacts({}, { args: () => own }))).toThrow('there is no member');
    expect(() => compile('args.fn > 1')(sampleFacts({}, { args: () => own }))).toThrow('something that is not JSON');
    expect(() => compile('args.date.x == 1')(sampleFacts({}, { args: () => own }))).toThrow('has no members');
    expect(() => compile('args.inherited == 1')(sampleFacts({}, { args: () => args }))).toThrow('has no members');
    expect(called).toBe(0);
  });

  test('variables of loops are not facts', () => {
    expect(holds('args.list.all(agent, agent.org_id == 1)', { list: [{ org_id: 1 }] })).toBe(true);
    expect(holds('args.list.all(x, args.list.all(x, x == 1))', { list: [1] })).toBe(true);
  });

  const conditions = [
    'args.a == args.b',
    'args.a > args.b || args.a <= args.b',
    'args == args.a || args.a in args.b',
    'has(args.a) && args.a.size() > 1',
    'args.all(k, args[k] != null)',
    'args.exists(x, x == "a") || args.exists_one(x, x.a == 1)',
    'args.map(x, args.map(y, [x, y])).size() > 3',
    'args.filter(x, x > 1).size() > 0',
    'args.a.contains(args.b) && args.a.matches(args.b)',
    'string(args.a).matches("^(a|b)*$") || int(args.a) > 1',
    'timestamp(args.a).getHours(args.b) > 1 || duration(args.a) > duration(args.b)',
    'args.a.split(args.b).join(args.b) == args.a',
    'args.a + args.b == args.b + args.a',
    'args.a / args.b > 1 || args.a % args.b == 0',
    'args.a[args.b] == args[args.a]',
    'args.a.substring(args.b) == args.a.lowerAscii()',
    'args.a',
    'type(args.a) == type(args.b)',
  ].map((source) => compile(source));

  test('whatever they are, a condition gives a bool or throws an error', () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const args = fc.oneof(json, fc.record({ a: json, b: json }), fc.record({ a: fc.string(), b: fc.string() }));
    fc.assert(
      fc.property(args, (value) => {
        for (const condition of conditions) {
          try {
            expect(typeof condition(sampleFacts(value))).toBe('boolean');
          } catch (error) {
            if (!(error instanceof Error) || !error.name.startsWith('Condition')) throw error;
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('one file alone knows the library', () => {
  const files = globSync('packages/*/src/**/*.ts', { exclude: ['**/*.test.ts'] });
  const importers = files.filter((file) => readFileSync(file, 'utf8').includes("'@marcbachmann/cel-js'"));
  expect(importers).toEqual(['packages/gateway/src/adapters/cel/cel-environment.ts']);
});
