import type { Letter } from '@reeve/core';
import MimeNode from 'nodemailer/lib/mime-node/index.js';
import type { Mailbox } from './mailbox.ts';
import { formatMailbox } from './mailbox.ts';

/** A part that travels as it is written. */
class PlainPart extends MimeNode {
  override getTransferEncoding(): string {
    return '7bit';
  }
}

/** The letter as a MIME message, its plain text first and its HTML second. */
export function composeMessage(from: Mailbox, to: string, letter: Letter): Promise<Buffer> {
  const root = new MimeNode('multipart/alternative', {
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  root.setHeader('From', formatMailbox(from));
  root.setHeader('To', to);
  root.setHeader('Subject', letter.subject);
  // RFC 3834: keeps holiday notices and other automatic answers away.
  root.setHeader('Auto-Submitted', 'auto-generated');
  for (const [type, content] of [
    ['text/plain', letter.text],
    ['text/html', letter.html],
  ] as const) {
    const Part = travelsAsItIs(content) ? PlainPart : MimeNode;
    const part = new Part(`${type}; charset=utf-8`, { rootNode: root, parentNode: root });
    part.setContent(content);
    root.appendChild(part);
  }
  return root.build();
}

/** Within the limits of SMTP, text is best left alone: its link then stays whole in the source of the message, too. */
function travelsAsItIs(content: string): boolean {
  return /^[\t\n\x20-\x7e]*$/.test(content) && content.split('\n').every((line) => line.length <= 990);
}
