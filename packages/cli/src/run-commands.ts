import type { CommandTable } from './command-line/command.ts';

/** The commands about the runs of agents. */
export const runCommands: CommandTable = {
  runs: {
    summary: 'Show the runs of agents, and the labels that they bear.',
    load: async () => (await import('./commands/runs.ts')).runsCommand,
    commands: {
      show: {
        summary: 'Show one run, with its labels and its operations.',
        load: async () => (await import('./commands/runs-show.ts')).runsShowCommand,
      },
      labels: {
        summary: 'Clear labels of runs and agents.',
        commands: {
          clear: {
            summary: 'Clear labels of a run or an agent.',
            load: async () => (await import('./commands/runs-labels-clear.ts')).runsLabelsClearCommand,
          },
        },
      },
    },
  },
};
