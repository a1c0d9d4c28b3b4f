import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { optional } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { note, print } from '../output/print.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';

type Prices = RouteOutput<Routes['listPrices']>;
type Price = Prices['items'][number];

const columns: readonly Column<Price>[] = [
  { title: 'MODEL', value: ({ model }) => model },
  { title: 'INPUT', value: (price) => price.input_per_mtok_usd, isRight: true },
  { title: 'CACHED', value: (price) => price.cached_input_per_mtok_usd, isRight: true, importance: 'minor' },
  { title: 'OUTPUT', value: (price) => price.output_per_mtok_usd, isRight: true },
  { title: 'BEYOND', value: beyondText, importance: 'minor' },
  { title: 'PRICE', value: ({ source }) => source },
];

function beyondText({ beyond }: Price): string | null {
  if (beyond === null) return null;
  return `${beyond.input_tokens} input tokens: ${beyond.input_per_mtok_usd}, ${beyond.output_per_mtok_usd}`;
}

/** After this many days prices may well have changed. */
const oldDays = 90;

export const llmPricesCommand = defineCommand({
  details: [
    'Needs the scope read, and a credential bound to no tenant. What models cost, in US dollars for a million tokens: first the prices that the "pricing" of a policy configures, then the built-in ones. With MODEL: the price that counts for it, or an end with 1 if there is none.',
    'Data: {items, unknown_price, built_in: {as_of, source}}, as GET /api/v1/prices.',
  ],
  args: { model: optional('A model, as agents name it.') },
  options: {},
  examples: [
    ['reeve llm prices', 'all prices'],
    ['reeve llm prices gpt-5-mini', 'what counts for one model'],
  ],
  run: async (input, shell) => {
    const { model } = input.args;
    const client = await connect(shell, input);
    const prices = await client.call('listPrices', { query: { model } });
    const none = `${model ?? 'No model'} has no price: unknown_price is ${prices.unknown_price}.`;
    print(shell, input.globals.output, prices, () =>
      prices.items.length === 0 ? none : tableText(shell, columns, prices.items),
    );
    if (input.globals.output === 'table') note(shell, ageText(prices.built_in, Date.now()));
    return model !== undefined && prices.items.length === 0 ? 1 : 0;
  },
});

function ageText({ as_of: asOf, source }: Prices['built_in'], now: number): string {
  const days = Math.floor((now - Date.parse(asOf)) / 86_400_000);
  const told = `USD for a million tokens; built in: ${asOf}, ${source}.`;
  return days > oldDays ? `${told}\nThese are ${days} days old: upgrade, or configure prices in a policy.` : told;
}
