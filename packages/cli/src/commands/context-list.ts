import { defineCommand } from '../command-line/command.ts';
import { readConfig } from '../context/config-file.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { sessionNames } from '../context/sessions.ts';
import { print } from '../output/print.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';

interface ShownContext {
  readonly name: string;
  readonly api_url: string | null;
  readonly current: boolean;
  readonly has_api_key: boolean;
  readonly logged_in: boolean;
}

const columns: readonly Column<ShownContext>[] = [
  { title: 'CURRENT', value: ({ current }) => (current ? '*' : '') },
  { title: 'NAME', value: ({ name }) => name, importance: 'major' },
  { title: 'API URL', value: ({ api_url: url }) => url, isFlexible: true },
  { title: 'API KEY', value: ({ has_api_key: has }) => (has ? 'stored' : '') },
  { title: 'SESSION', value: ({ logged_in: is }) => (is ? 'yes' : '') },
];

export const contextListCommand = defineCommand({
  details: ['Data: {current_context, items: [{name, api_url, current, has_api_key, logged_in}]}.'],
  args: {},
  options: {},
  examples: [['reeve context list', 'the contexts, with a star at the current one']],
  run: async ({ globals }, shell) => {
    const folder = reeveFolder(shell);
    const { currentContext, contexts } = await readConfig(folder);
    const sessions = await sessionNames(folder);
    const items = [...contexts].map(([name, { apiUrl, apiKey }]) => ({
      name,
      api_url: apiUrl ?? null,
      current: name === currentContext,
      has_api_key: apiKey !== undefined,
      logged_in: sessions.includes(name),
    }));
    const none = 'No contexts. "reeve context set NAME --api-url URL" makes one.';
    print(shell, globals.output, { current_context: currentContext ?? null, items }, () =>
      items.length === 0 ? none : tableText(shell, columns, items),
    );
    return 0;
  },
});
