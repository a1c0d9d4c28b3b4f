import type { Letter } from '@reeve/core';
import MimeNode from 'nodemailer/lib/mime-node/index.js';
import type { Mailbox } from './mailbox.ts';
import { formatMailbox } from './mailbox.ts';

/** A part that is sent unencoded. */
class PlainPart extends MimeNode {
  override getTransferEncoding(): string {
    return '7bit';
  }
}

/** The letter as a MIME message, plain text first and HTML second. */
export function composeMessage(from: Mailbox, to: string, letter: Letter): Promise<Buffer> {
  const root = new MimeNode('multipart/alternative', {
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  root.setHeader('From', formatMailbox(from));
  root.setHeader('To', to);
  root.setHeader('Subject', letter.subject);
  // RFC 3834: prevents holiday notices and other automatic replies.
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

/** Text within the limits of SMTP is best sent unencoded: its link then stays whole in the message source, too. */
function travelsAsItIs(content: string): boolean {
  return /^[\t\n\x20-\x7e]*$/.test(content) && content.split('\n').every((line) => line.length <= 990);
}
