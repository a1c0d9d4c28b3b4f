import type { ChatNotice } from './chat-notice.ts';

const styles = { yes: { style: 'positive' }, no: { style: 'destructive' }, plain: {} } as const;

/** An Adaptive Card for a Teams workflow. Text runs know no Markdown, so what an agent chose makes no links. */
export function teamsMessage({ title, line, facts, buttons }: ChatNotice): string {
  const run = (text: string, more: object = {}) => ({ type: 'TextRun', text, ...more });
  const lines = facts.map(([name, value]) => ({
    type: 'RichTextBlock',
    spacing: 'Small',
    inlines: [run(`${name}: `, { weight: 'Bolder' }), run(value)],
  }));
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: line,
    body: [{ type: 'TextBlock', size: 'Medium', weight: 'Bolder', text: title, wrap: true }, ...lines],
    actions: buttons.map(({ title: text, url, kind }) => ({
      type: 'Action.OpenUrl',
      title: text,
      url,
      ...styles[kind],
    })),
  };
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card };
  return JSON.stringify({ type: 'message', attachments: [attachment] });
}
