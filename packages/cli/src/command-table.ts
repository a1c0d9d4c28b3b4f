import type { CommandTable } from './command-line/command.ts';
import { backupCommands } from './backup-commands.ts';
import { accountCommands } from './account-commands.ts';
import { doorCommands } from './door-commands.ts';
import { runCommands } from './run-commands.ts';

/** Every command. The code of each is loaded on demand, so an unused command costs no time at start. */
export const commandTable: CommandTable = {
  serve: {
    summary: 'Run the gateway: HTTP on one port, gRPC on another.',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  demo: {
    summary: 'Run a gateway with demo agents that do all sorts of things.',
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  login: {
    summary: 'Exchange an API key for a session and keep it, or sign in by the browser.',
    load: async () => (await import('./commands/login.ts')).loginCommand,
  },
  logout: {
    summary: 'Forget the session of the active context.',
    load: async () => (await import('./commands/logout.ts')).logoutCommand,
  },
  whoami: {
    summary: 'Show the session of the active context.',
    load: async () => (await import('./commands/whoami.ts')).whoamiCommand,
  },
  context: {
    summary: 'Name gateways and switch between them.',
    commands: {
      list: {
        summary: 'Show the contexts.',
        load: async () => (await import('./commands/context-list.ts')).contextListCommand,
      },
      use: {
        summary: 'Make a context the current one.',
        load: async () => (await import('./commands/context-use.ts')).contextUseCommand,
      },
      set: {
        summary: 'Add a context, or change one.',
        load: async () => (await import('./commands/context-set.ts')).contextSetCommand,
      },
      delete: {
        summary: 'Remove a context, and its session.',
        load: async () => (await import('./commands/context-delete.ts')).contextDeleteCommand,
      },
    },
  },
  keys: {
    summary: 'Manage API keys.',
    commands: {
      list: {
        summary: 'Show the API keys.',
        load: async () => (await import('./commands/keys-list.ts')).keysListCommand,
      },
      create: {
        summary: 'Make an API key.',
        load: async () => (await import('./commands/keys-create.ts')).keysCreateCommand,
      },
      rotate: {
        summary: 'Replace an API key by a new one with the same rights.',
        load: async () => (await import('./commands/keys-rotate.ts')).keysRotateCommand,
      },
      revoke: {
        summary: 'Revoke an API key.',
        load: async () => (await import('./commands/keys-revoke.ts')).keysRevokeCommand,
      },
      bootstrap: {
        summary: 'Make an admin key on the machine of the gateway, without one.',
        load: async () => (await import('./commands/keys-bootstrap.ts')).keysBootstrapCommand,
      },
    },
  },
  ...accountCommands,
  agents: {
    summary: 'See agents, register, suspend and resume them, and end delegations.',
    commands: {
      list: {
        summary: 'Show the registered agents.',
        load: async () => (await import('./commands/agents-list.ts')).agentsListCommand,
      },
      tree: {
        summary: 'Show who works below whom, and within which limits.',
        load: async () => (await import('./commands/agents-tree.ts')).agentsTreeCommand,
      },
      register: {
        summary: 'Register an agent and show its token.',
        load: async () => (await import('./commands/agents-register.ts')).agentsRegisterCommand,
      },
      suspend: {
        summary: 'Deny every check of an agent, and pause what it runs.',
        load: async () => (await import('./commands/agents-suspend.ts')).agentsSuspendCommand,
      },
      resume: {
        summary: 'Let a suspended agent work again.',
        load: async () => (await import('./commands/agents-suspend.ts')).agentsResumeCommand,
      },
      'revoke-delegation': {
        summary: 'End the delegation by which an agent acts.',
        load: async () => (await import('./commands/agents-revoke-delegation.ts')).agentsRevokeDelegationCommand,
      },
    },
  },
  ...doorCommands,
  ...backupCommands,
  ops: {
    summary: 'See operations in flight and control them.',
    commands: {
      list: {
        summary: 'Show operations in flight.',
        load: async () => (await import('./commands/ops-list.ts')).opsListCommand,
      },
      watch: {
        summary: 'Follow operations live, and control them.',
        load: async () => (await import('./commands/ops-watch.ts')).opsWatchCommand,
      },
      pause: {
        summary: 'Pause a running operation.',
        load: async () => (await import('./commands/ops-control.ts')).opsPauseCommand,
      },
      resume: {
        summary: 'Let a paused operation run on.',
        load: async () => (await import('./commands/ops-control.ts')).opsResumeCommand,
      },
      terminate: {
        summary: 'End an operation.',
        load: async () => (await import('./commands/ops-control.ts')).opsTerminateCommand,
      },
    },
  },
  people: {
    summary: 'Show for whom agents acted, and what was decided.',
    load: async () => (await import('./commands/people.ts')).peopleCommand,
  },
  ...runCommands,
  suspend: {
    summary: 'Hold everything in an org or a team until it is resumed.',
    load: async () => (await import('./commands/suspend.ts')).suspendCommand,
  },
  resume: {
    summary: 'Lift the suspensions of an org, of a team or of everything.',
    load: async () => (await import('./commands/resume.ts')).resumeCommand,
  },
  suspensions: {
    summary: 'Show what is suspended, by whom and why.',
    load: async () => (await import('./commands/suspensions.ts')).suspensionsCommand,
  },
  stop: {
    summary: 'Pause, resume or terminate everything in a scope, after a preview.',
    load: async () => (await import('./commands/stop.ts')).stopCommand,
  },
  budgets: {
    summary: 'Show what may be spent, and has been.',
    load: async () => (await import('./commands/budgets.ts')).budgetsCommand,
    commands: {
      correct: {
        summary: 'Correct what was settled today and this month.',
        load: async () => (await import('./commands/budgets-correct.ts')).budgetsCorrectCommand,
      },
      rates: {
        summary: 'Show how much of each rate is used up.',
        load: async () => (await import('./commands/budgets-rates.ts')).budgetsRatesCommand,
      },
    },
  },
  approvals: {
    summary: 'Decide about actions that wait for a person.',
    commands: {
      list: {
        summary: 'Show what waits for a verdict.',
        load: async () => (await import('./commands/approvals-list.ts')).approvalsListCommand,
      },
      watch: {
        summary: 'Follow approvals live, and decide.',
        load: async () => (await import('./commands/approvals-watch.ts')).approvalsWatchCommand,
      },
      show: {
        summary: 'Show one request with all that it asks for.',
        load: async () => (await import('./commands/approvals-show.ts')).approvalsShowCommand,
      },
      approve: {
        summary: 'Let an action happen.',
        load: async () => (await import('./commands/approvals-decide.ts')).approvalsApproveCommand,
      },
      reject: {
        summary: 'Do not let an action happen.',
        load: async () => (await import('./commands/approvals-decide.ts')).approvalsRejectCommand,
      },
      grants: {
        summary: 'Show what agents may do without asking again.',
        load: async () => (await import('./commands/approvals-grants.ts')).approvalsGrantsCommand,
      },
      'revoke-grant': {
        summary: 'End a standing grant.',
        load: async () => (await import('./commands/approvals-grants.ts')).approvalsRevokeGrantCommand,
      },
    },
  },
  policy: {
    summary: 'Write, test and change policies.',
    commands: {
      init: {
        summary: 'Write policies to start from.',
        load: async () => (await import('./commands/policy-init.ts')).policyInitCommand,
      },
      validate: {
        summary: 'Check policy files, without a gateway.',
        load: async () => (await import('./commands/policy-validate.ts')).policyValidateCommand,
      },
      test: {
        summary: 'Judge cases by policy files, without a gateway.',
        load: async () => (await import('./commands/policy-test.ts')).policyTestCommand,
      },
      simulate: {
        summary: 'Ask what a check would be answered.',
        load: async () => (await import('./commands/policy-simulate.ts')).policySimulateCommand,
      },
      backtest: {
        summary: 'Judge recorded decisions again by other policies.',
        load: async () => (await import('./commands/policy-backtest.ts')).policyBacktestCommand,
      },
      push: {
        summary: 'Store policies in the gateway and put them in force.',
        load: async () => (await import('./commands/policy-push.ts')).policyPushCommand,
      },
      list: {
        summary: 'Show the policies in force.',
        load: async () => (await import('./commands/policy-list.ts')).policyListCommand,
      },
      show: {
        summary: 'Show the text of a policy.',
        load: async () => (await import('./commands/policy-show.ts')).policyShowCommand,
      },
      history: {
        summary: 'Show the versions of a stored policy.',
        load: async () => (await import('./commands/policy-history.ts')).policyHistoryCommand,
      },
      rollback: {
        summary: 'Put an earlier version in force again.',
        load: async () => (await import('./commands/policy-rollback.ts')).policyRollbackCommand,
      },
      delete: {
        summary: 'Take a stored policy out of force.',
        load: async () => (await import('./commands/policy-delete.ts')).policyDeleteCommand,
      },
      explain: {
        summary: 'Say why an operation was decided as it was.',
        load: async () => (await import('./commands/policy-explain.ts')).policyExplainCommand,
      },
    },
  },
  topology: {
    summary: 'Show orgs, teams and agents.',
    load: async () => (await import('./commands/topology.ts')).topologyCommand,
  },
  cluster: {
    summary: 'Show the gateways that act as one.',
    load: async () => (await import('./commands/cluster.ts')).clusterCommand,
  },
  logs: {
    summary: 'Show the audit log, or follow it.',
    load: async () => (await import('./commands/logs.ts')).logsCommand,
  },
  audit: {
    summary: 'Export the audit log and prove it.',
    commands: {
      verify: {
        summary: 'Check the chain of the audit log.',
        load: async () => (await import('./commands/audit-verify.ts')).auditVerifyCommand,
      },
      export: {
        summary: 'Write the audit log as JSON lines or CSV.',
        load: async () => (await import('./commands/audit-export.ts')).auditExportCommand,
      },
    },
  },
  status: {
    summary: 'Show the gateway, who you are, and what is in force, runs and waits.',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  doctor: {
    summary: 'Find out whether everything is in order.',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  version: {
    summary: 'Show the version of this command, and of the gateway.',
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
  completion: {
    summary: 'Print the completion for a shell.',
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
};
