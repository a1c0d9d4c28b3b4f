import type { CommandTable } from './command-line/command.ts';

/** The commands about the accounts of people. */
export const accountCommands: CommandTable = {
  accounts: {
    summary: 'Get back into a gateway from its own machine.',
    commands: {
      'create-owner': {
        summary: 'Make an owner, without a gateway.',
        load: async () => (await import('./commands/accounts-create-owner.ts')).accountsCreateOwnerCommand,
      },
    },
  },
};
