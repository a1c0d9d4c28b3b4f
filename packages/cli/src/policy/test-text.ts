import { cleanText } from '../output/clean-text.ts';
import type { Colour } from '../output/colour.ts';
import { hasColours, paint } from '../output/colour.ts';
import { counted } from '../output/duration.ts';
import type { Shell } from '../shell.ts';
import type { CaseReport } from './offline.ts';

type Counted = CaseReport & { readonly passed: number; readonly failed: number };

/** The failures, the rules that no case reached, and the counts. */
export function testText(shell: Shell, report: Counted): string {
  const colours = hasColours(shell);
  const tinted = (text: string, colour: Colour) => (colours ? paint(text, colour) : text);
  const failures = [
    ...report.cases.filter(({ passed }) => !passed).map((one) => failedCase(one, tinted)),
    ...report.refusals.filter(({ passed }) => !passed).map((one) => failedRefusal(one, tinted)),
  ];
  const { rules, reached, unreached } = report.coverage;
  const missed =
    unreached.length === 0 ? [] : [`No case reaches:\n${unreached.map((id) => `  ${cleanText(id)}`).join('\n')}`];
  const covered = rules === 0 ? '' : `; ${reached} of ${counted(rules, 'rule')} reached`;
  const total = counted(report.passed + report.failed, 'case');
  const summary =
    report.failed === 0
      ? tinted(`${total} passed${covered}.`, 'green')
      : tinted(`${report.failed} of ${total} failed${covered}.`, 'red');
  return [...failures, ...missed, summary].join('\n\n');
}

type Tinted = (text: string, colour: Colour) => string;

function failedCase(
  { file, line, about, case: name, expected, actual, differs, problem, matched }: CaseReport['cases'][number],
  tinted: Tinted,
): string {
  const title = about === '' ? name : `${name} (${about})`;
  const shown = [...new Set([...(['decision', 'rule', 'reason'] as const), ...differs])];
  const width = Math.max(...shown.map((member) => member.length));
  const row = (mark: string, member: string, value: unknown) =>
    cleanText(`  ${mark} ${member.padEnd(width)}  ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const rows = shown.flatMap((member) => {
    if (!differs.includes(member)) return [row(' ', member, actual[member])];
    return [tinted(row('-', member, expected[member]), 'green'), tinted(row('+', member, actual[member]), 'red')];
  });
  const why = matched.map((rule) => cleanText(`    ${rule.effect} by ${rule.rule}: ${rule.why}`));
  return [
    `${cleanText(file)}:${line}: ${cleanText(title)}`,
    ...(problem === null ? [] : [cleanText(`  ${problem}`)]),
    ...(differs.length === 0 ? [] : ['  expected -, answered +', ...rows]),
    ...(why.length === 0 ? ['  no rule matches'] : ['  matching rules:', ...why]),
  ].join('\n');
}

function failedRefusal(
  { file, line, about, expected, actual }: CaseReport['refusals'][number],
  tinted: Tinted,
): string {
  return [
    `${cleanText(file)}:${line}: ${cleanText(about)}`,
    '  expected -, told +',
    ...expected.filter((one) => !actual.includes(one)).map((one) => tinted(`  - ${cleanText(one)}`, 'green')),
    ...actual.filter((one) => !expected.includes(one)).map((one) => tinted(`  + ${cleanText(one)}`, 'red')),
  ].join('\n');
}
