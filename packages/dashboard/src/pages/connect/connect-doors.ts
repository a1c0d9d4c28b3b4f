import type { Entrance, HookHostName } from '@reeve/contract/names';
import { hookHosts } from '@reeve/contract/names';
import type { DoorId } from './door-ids.ts';
import { doorIds } from './door-ids.ts';

interface DoorChoice {
  readonly label: string;
  readonly group: string;
  /** As the gateway calls it. */
  readonly entrance: Entrance;
  /** When to choose it. */
  readonly fits: string;
  /** What is not checked by this door alone. */
  readonly leaves: string;
  /** What the agent is registered as. */
  readonly framework: string;
}

const mcp = {
  group: 'MCP servers',
  entrance: 'mcp',
  leaves: 'Model calls, and tools that the agent has without these servers, are not checked by this.',
  framework: 'mcp',
} as const;
const model = {
  group: 'Model calls',
  entrance: 'model',
  leaves: 'What the agent does with the model’s answers is not checked by this: its tools need a door, too.',
  framework: '',
} as const;
const hook = {
  group: 'Coding agents',
  entrance: 'hook',
  fits: 'Each command, file and tool is asked for before it happens.',
  leaves: 'Model calls are not checked by this. A person who can change the settings can remove the hook.',
} as const;

const own = {
  group: 'Your own code',
  entrance: 'sdk',
  fits: 'For an agent whose code you write. It asks before each action.',
  leaves: 'Only what the code asks about is checked.',
  framework: '',
} as const;
const framework = {
  ...own,
  fits: 'Tools and models of the framework ask before each call. They keep their types.',
  leaves: 'Only tools and models that the code governs are checked.',
} as const;
const typescript = { ...framework, group: 'Frameworks in TypeScript' } as const;
const python = { ...framework, group: 'Frameworks in Python' } as const;

export const doorChoices: Readonly<Record<DoorId, DoorChoice>> = {
  sdk: { ...own, label: 'TypeScript' },
  python: { ...own, label: 'Python' },
  grpc: { ...own, label: 'Other languages' },
  langchain: { ...typescript, label: 'LangChain, LangGraph', framework: 'langchain' },
  'openai-agents': { ...typescript, label: 'OpenAI Agents', framework: 'openai-agents' },
  ai: { ...typescript, label: 'AI SDK', framework: 'ai' },
  'claude-agent': { ...typescript, label: 'Claude Agent SDK', framework: 'claude-agent' },
  'langchain-python': { ...python, label: 'LangChain, LangGraph (Python)', framework: 'langchain' },
  'openai-agents-python': { ...python, label: 'OpenAI Agents (Python)', framework: 'openai-agents' },
  crewai: { ...python, label: 'CrewAI', framework: 'crewai' },
  'pydantic-ai': { ...python, label: 'Pydantic AI', framework: 'pydantic-ai' },
  'mcp-stdio': { ...mcp, label: 'MCP, stdio', fits: 'In front of a server that the client starts by itself.' },
  'mcp-http': { ...mcp, label: 'MCP over HTTP', fits: 'One proxy for the servers of many agents.' },
  openai: { ...model, label: 'OpenAI-compatible', fits: 'For clients of the API of OpenAI: another base URL.' },
  anthropic: { ...model, label: 'Anthropic', fits: 'For clients of the API of Anthropic: another base URL.' },
  ...hookChoices(),
};

function hookChoices(): Readonly<Record<HookHostName, DoorChoice>> {
  const choices = Object.entries(hookHosts).map(([host, label]) => [host, { ...hook, label, framework: host }]);
  return Object.fromEntries(choices) as Record<HookHostName, DoorChoice>;
}

/** The doors as they are shown, group by group. */
export const doorGroups: readonly (readonly [group: string, doors: readonly DoorId[]])[] = [
  ...Map.groupBy(doorIds, (id) => doorChoices[id].group),
];
