import type { ChatNotice } from './chat-notice.ts';

const styles = { yes: { style: 'primary' }, no: { style: 'danger' }, plain: {} } as const;

/** A message in Slack's Block Kit. Whatever an agent chose is plain text: it makes no links and calls nobody. */
export function slackMessage({ title, line, facts, buttons }: ChatNotice): string {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  return JSON.stringify({
    text: line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    blocks: [
      { type: 'header', text: plain(title) },
      { type: 'section', fields: facts.map(([name, value]) => plain(`${name}\n${value}`)) },
      {
        type: 'actions',
        elements: buttons.map(({ title: text, url, kind }, index) => ({
          type: 'button',
          text: plain(text),
          url,
          action_id: `reeve_${index}`,
          ...styles[kind],
        })),
      },
    ],
  });
}
