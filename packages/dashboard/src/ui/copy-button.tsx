import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { toast } from './toast.ts';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied: "Copy the key". */
  readonly label?: string;
}

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      toast.said('Copied');
    } catch {
      toast.failed('The browser did not allow copying. Select the text and copy it with the keyboard.');
    }
  };
  return (
    <IconButton
      icon={isCopied ? 'check' : 'copy'}
      size="small"
      label={isCopied ? 'Copied' : label}
      onClick={() => void copy()}
    />
  );
}

/** A command or value to copy. */
export function Copyable({ text, label }: CopyButtonProps) {
  return (
    <span className="flex min-w-0 items-center gap-1 rounded-md border bg-sunken py-0.5 pr-0.5 pl-2.5">
      <code className="min-w-0 flex-1 py-1 break-all whitespace-pre-wrap">{text}</code>
      <CopyButton text={text} {...(label === undefined ? {} : { label })} />
    </span>
  );
}
