import type { HookHostName } from '@reeve/contract/names';
import { hookHostNames, hookHosts } from '@reeve/contract/names';
import type { CommandTable } from './command-line/command.ts';

/** The commands that stand between agents and what they do: proxies, hooks, and the floor. */
export const doorCommands: CommandTable = {
  run: {
    summary: 'Run a program on a floor: files, network and processes held by the kernel.',
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  llm: {
    summary: 'Put Reeve in front of model providers.',
    commands: {
      serve: {
        summary: 'Check every model call before it goes to its provider.',
        load: async () => (await import('./commands/llm-serve.ts')).llmServeCommand,
      },
      prices: {
        summary: 'Show what models cost, and where each price comes from.',
        load: async () => (await import('./commands/llm-prices.ts')).llmPricesCommand,
      },
    },
  },
  mcp: {
    summary: 'Put Reeve in front of MCP servers.',
    commands: {
      run: {
        summary: 'Be an MCP server on stdio, in front of another one.',
        load: async () => (await import('./commands/mcp-run.ts')).mcpRunCommand,
      },
      serve: {
        summary: 'Serve MCP servers over Streamable HTTP.',
        load: async () => (await import('./commands/mcp-serve.ts')).mcpServeCommand,
      },
      login: {
        summary: 'Log in to an MCP server, as a person.',
        load: async () => (await import('./commands/mcp-login.ts')).mcpLoginCommand,
      },
      lock: {
        summary: 'Write down how the tools of MCP servers are defined.',
        load: async () => (await import('./commands/mcp-lock.ts')).mcpLockCommand,
      },
    },
  },
  hook: {
    summary: 'Govern coding agents by their hooks.',
    commands: {
      install: {
        summary: 'Add the hooks to the settings of a coding agent.',
        load: async () => (await import('./commands/hook-install.ts')).hookInstallCommand,
      },
      uninstall: {
        summary: 'Remove the hooks from the settings of a coding agent.',
        load: async () => (await import('./commands/hook-install.ts')).hookUninstallCommand,
      },
      ...Object.fromEntries(hookHostNames.map((host) => [host, hookEventCommand(host)])),
    },
  },
};

function hookEventCommand(host: HookHostName): CommandTable[string] {
  return {
    summary: `Answer a hook event of ${hookHosts[host]}.`,
    load: async () => (await import('./commands/hook-run.ts')).hookCommand(host),
  };
}
