import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, texts } from '../command-line/values.ts';
import { print } from '../output/print.ts';
import { problemLines, testOffline } from '../policy/offline.ts';
import { testText } from '../policy/test-text.ts';

export const policyTestCommand = defineCommand({
  details: [
    'Works without a gateway, by the evaluator of the gateway. Judges each case, says where the answer is another than expected, and which rules matched in no case. Ends with 1 where a case failed or a file is wrong.',
    'A case has case (its name), agent (org/team/agent), action, arguments, decision (allow, deny or pending) and rule, and where wanted more: the guide to policies has all of it.',
    'Data: {passed, failed, cases: [{file, line, about, case, passed, expected, actual, differs, problem, matched}], refusals, coverage: {rules, reached, unreached}}. If a file is wrong: {errors: [{file, line, column, message}]}.',
  ],
  args: { path: required('A policy file, or a folder of them.', 'file') },
  options: {
    cases: texts('FILE', 'Files or folders of cases; several by commas. Default: the folder .cases in PATH.', {
      completes: 'file',
    }),
  },
  examples: [
    ['reeve policy test policies', 'the cases in policies/.cases'],
    ['reeve policy test policies --cases cases/payments.yaml', 'the cases of one file'],
    ['reeve policy test policies --output json', 'for a program, as in a pipeline'],
  ],
  run: async (input, shell) => {
    const { path } = input.args;
    const { caseFiles, problems, report } = await testOffline(path, input.options.cases);
    if (report === undefined) {
      if (input.globals.output === 'table') throw new CliError(problemLines(problems).join('\n'), { bare: true });
      print(shell, input.globals.output, { errors: problems }, () => '');
      return 1;
    }
    if (caseFiles.length === 0) {
      throw new CliError(`there are no cases: write some into ${path}/.cases, or name files of them by --cases`);
    }
    const results = [...report.cases, ...report.refusals];
    const failed = results.filter(({ passed }) => !passed).length;
    const data = { passed: results.length - failed, failed, ...report };
    print(shell, input.globals.output, data, () => testText(shell, data));
    return failed === 0 ? 0 : 1;
  },
});
