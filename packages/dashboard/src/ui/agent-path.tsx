/** An agent on one line. It stays visible. Its org and team may be cut. */
export function AgentPath({ path }: { readonly path: string }) {
  const at = path.lastIndexOf('/');
  return (
    // Cuts the text at its start.
    <span dir="rtl" title={path} className="block truncate text-left">
      <bdi dir="ltr">
        <span className="text-muted">{path.slice(0, at + 1)}</span>
        {path.slice(at + 1)}
      </bdi>
    </span>
  );
}
