interface JsonBlockProps {
  readonly value: unknown;
}

/** An indented JSON value. Long lines wrap. A long value scrolls, by keyboard too. */
export function JsonBlock({ value }: JsonBlockProps) {
  return (
    <pre
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-md border bg-sunken p-3 text-sm wrap-anywhere whitespace-pre-wrap"
    >
      {JSON.stringify(value, undefined, 2)}
    </pre>
  );
}
